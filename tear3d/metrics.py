"""How far a pose is from the truth."""

from tear3d.lab.metrics import (
    LIMITS,
    MaskScores,
    SuccessLimits,
    is_success,
    precision_recall_f1,
    registration_recall,
    rotation_error,
    scale_error,
    translation_error,
)

__all__ = [
    "LIMITS",
    "MaskScores",
    "SuccessLimits",
    "is_success",
    "precision_recall_f1",
    "registration_recall",
    "rotation_error",
    "scale_error",
    "translation_error",
]

"""The learned peers' networks in PyTorch, for inference only: names of weights as in the released checkpoints."""

"""Pretraining: how the shipped base policy is made from generated text.

Stage: before the loop. `behaviours` scripts agents of mixed quality, `corpus` turns them into
documents, `training` trains the model. Nothing in the loop imports this room.
"""

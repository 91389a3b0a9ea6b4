"""Evaluation: questions with known answers are asked of real data, and what came is put into figures.

``read`` reads data sets and questions, ``figures`` is arithmetic, ``run`` asks, ``kept`` keeps results and compares.
"""

"""What start.py does: check the machine, make the environment, open JupyterLab. Standard library only."""

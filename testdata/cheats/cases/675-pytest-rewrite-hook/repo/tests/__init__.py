import src

"""What a device may choose besides a length: payload, draft model, tree, sitting out; overlap; who drafts.

A table of actions, of which `msopt.solve_actions` finds the best row for each device:

payload_actions      every draft length with every `PayloadOption`: how much of a distribution is sent
payload_options      these options, read off a profile's payload table
draft_model_actions  every draft length by every `DraftModel`, with the memory that it takes
ladder               these models, read off several profiles of one target
tree_actions         every `TreeShape` that may be drafted; `full_tree` makes one of independent candidates

Another way to play rounds:

solve_overlap        N groups of devices, of which the server verifies one while the others draft
take_turns           at most so many devices in a round, fair in the long run

Sizes:

distributed_goodput  of devices that draft; `colocated_goodput` of a server that drafts for all of them [token/s]
crossing             the round trip at which the one passes the other
capacity             the most devices that have a goodput each, served in one way or the other
"""

from msopt.choices.draft_models import DraftModel as DraftModel
from msopt.choices.draft_models import draft_model_actions as draft_model_actions
from msopt.choices.draft_models import ladder as ladder
from msopt.choices.overlap import solve_overlap as solve_overlap
from msopt.choices.participation import take_turns as take_turns
from msopt.choices.payload_actions import PayloadOption as PayloadOption
from msopt.choices.payload_actions import payload_actions as payload_actions
from msopt.choices.payload_actions import payload_options as payload_options
from msopt.choices.tree_actions import TreeShape as TreeShape
from msopt.choices.tree_actions import full_tree as full_tree
from msopt.choices.tree_actions import tree_actions as tree_actions
from msopt.choices.who_drafts import capacity as capacity
from msopt.choices.who_drafts import colocated_goodput as colocated_goodput
from msopt.choices.who_drafts import crossing as crossing
from msopt.choices.who_drafts import distributed_goodput as distributed_goodput

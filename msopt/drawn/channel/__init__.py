"""The radio channel: from a place in a cell to the SNRs of a scenario.

Distance and gain (`path_loss`), what is drawn (`randomness`), and cells with their powers and noise (`cells`): the two
papers' and 3GPP's. Decibels are used where a source states them, and end in `msopt.units`.
"""

from msopt.drawn.channel.cells import CELLS as CELLS
from msopt.drawn.channel.cells import MULTISPIN_CELL as MULTISPIN_CELL
from msopt.drawn.channel.cells import ULDL_CELL as ULDL_CELL
from msopt.drawn.channel.cells import AverageGainCell as AverageGainCell
from msopt.drawn.channel.cells import Cell as Cell
from msopt.drawn.channel.cells import Draws as Draws
from msopt.drawn.channel.cells import PathLossCell as PathLossCell
from msopt.drawn.channel.cells import unreplaced as unreplaced
from msopt.drawn.channel.path_loss import PowerLaw as PowerLaw
from msopt.drawn.channel.path_loss import Urban as Urban
from msopt.drawn.channel.path_loss import urban_macro as urban_macro
from msopt.drawn.channel.path_loss import urban_micro as urban_micro
from msopt.drawn.channel.randomness import uniform as uniform

"""The teacher's side of the notebooks: an nbgrader course, and hand-outs to read.

Stage: outside the loop. In: the notebooks and their answers; out: files in another folder. The
notebooks themselves are never changed.
"""

from workbench.classroom.course import make_course
from workbench.classroom.gallery import make_gallery
from workbench.classroom.notebooks import ClassroomError, find_notebooks

__all__ = ["ClassroomError", "find_notebooks", "make_course", "make_gallery"]

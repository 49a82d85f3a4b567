import numpy as np

from thresher.entities.kinds.classifier import KindClassifier
from thresher.entities.kinds.training import distill_kinds


def test_a_student_predicts_what_its_teacher_predicts_from_other_vectors():
    random = np.random.default_rng(0)
    taught = random.normal(size=(400, 6)).astype(np.float32)
    learned = (taught @ random.normal(size=(6, 9))).astype(np.float32)  # invertible on its image
    weight = random.normal(size=(4, 6)).astype(np.float32)
    bias, mean = np.zeros(4, np.float32), np.zeros(6, np.float32)
    teacher = KindClassifier(("a", "b", "c"), weight, bias, mean)  # and one background kind
    student = distill_kinds(teacher, taught, learned)
    assert student.kinds == teacher.kinds
    np.testing.assert_allclose(
        np.exp(student.log_probabilities(learned)),
        np.exp(teacher.log_probabilities(taught)),
        atol=0.05,
    )

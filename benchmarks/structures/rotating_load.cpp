// External load of a rotor in its own frame, as a plug-in of Siconos: f(t) = f_0 + f_cos cos Ωt + f_sin sin Ωt.
//
// z = (Ω, f_0, f_cos, f_sin).
#include <cmath>

extern "C" void rotating_load(double time, unsigned int size, double* load, unsigned int, double* z) {
  const double cosine = std::cos(z[0] * time), sine = std::sin(z[0] * time);
  const double *steady = z + 1, *in_phase = steady + size, *behind = in_phase + size;
  for (unsigned int i = 0; i < size; ++i) load[i] = steady[i] + in_phase[i] * cosine + behind[i] * sine;
}

// The parts of Siconos' headers that its assertions slow down most, compiled without them.
//
// Debian builds Siconos without NDEBUG: every change of an interaction graph walks over the whole graph, and every
// dense matrix-vector product is computed with checks on each entry. Preloaded, the functions below take the place of
// the checked ones. Needs libsiconos-kernel-dev.
#define NDEBUG
#include <DynamicalSystem.hpp>
#include <Interaction.hpp>
#include <InteractionManager.hpp>
#include <OneStepIntegrator.hpp>
#include <SimulationGraphs.hpp>
#include <boost/numeric/ublas/matrix.hpp>
#include <boost/numeric/ublas/vector.hpp>

using Systems = SiconosGraph<std::shared_ptr<DynamicalSystem>, std::shared_ptr<Interaction>, DynamicalSystemProperties,
                             InteractionProperties, GraphProperties>;
using Interactions = SiconosGraph<std::shared_ptr<Interaction>, std::shared_ptr<DynamicalSystem>, InteractionProperties,
                                  DynamicalSystemProperties, GraphProperties>;

template class SiconosGraph<std::shared_ptr<DynamicalSystem>, std::shared_ptr<Interaction>, DynamicalSystemProperties,
                            InteractionProperties, GraphProperties>;
template class SiconosGraph<std::shared_ptr<Interaction>, std::shared_ptr<DynamicalSystem>, InteractionProperties,
                            DynamicalSystemProperties, GraphProperties>;
template void Interactions::copy_vertex<InteractionsGraph>(const std::shared_ptr<Interaction>&, InteractionsGraph&);
template std::pair<Systems::EDescriptor, InteractionsGraph::VDescriptor> Systems::add_edge<InteractionsGraph>(
    const Systems::VDescriptor&, const Systems::VDescriptor&, const std::shared_ptr<Interaction>&, InteractionsGraph&);

// Checks that remain in other functions of the graphs are passed.
#define PASSED(name, graph, check)                                                                  \
  extern "C" bool name() __asm__("_ZNK12SiconosGraphISt10shared_ptrI" graph "15GraphPropertiesE" check); \
  bool name() { return true; }
#define SYSTEMS "15DynamicalSystemES0_I11InteractionE25DynamicalSystemProperties21InteractionProperties"
#define INTERACTIONS "11InteractionES0_I15DynamicalSystemE21InteractionProperties25DynamicalSystemProperties"
PASSED(systems_state, SYSTEMS, "12state_assertEv")
PASSED(systems_neighbours, SYSTEMS, "20adjacent_vertices_okEv")
PASSED(interactions_state, INTERACTIONS, "12state_assertEv")
PASSED(interactions_neighbours, INTERACTIONS, "20adjacent_vertices_okEv")

namespace ublas = boost::numeric::ublas;
using Vector = ublas::vector<double, std::vector<double>>;
using Matrix = ublas::matrix<double, ublas::column_major, std::vector<double>>;
using Product = ublas::matrix_vector_binary1<Matrix, Vector, ublas::matrix_vector_prod1<Matrix, Vector, double>>;
using Scaled = ublas::vector_binary_scalar1<const double, Product, ublas::scalar_multiplies<double, double>>;
template void ublas::indexing_vector_assign<ublas::scalar_plus_assign>(Vector&,
                                                                       const ublas::vector_expression<Scaled>&);

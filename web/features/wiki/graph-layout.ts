import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationNodeDatum,
} from 'd3-force';
import type { MethodResult } from '#shared/rpc/methods/index.ts';

type Graph = MethodResult<'wiki.graph'>;

/** A node with its position; `degree`: number of its edges. */
export type PlacedNode = Graph['nodes'][number] & SimulationNodeDatum & { x: number; y: number; degree: number };

export interface PlacedEdge {
  source: PlacedNode;
  target: PlacedNode;
  kind: Graph['edges'][number]['kind'];
}

/** Number of nodes above which the layout takes fewer and faster steps. */
const LARGE_GRAPH_NODES = 500;

export const getNodeRadius = ({ degree }: Pick<PlacedNode, 'degree'>): number => 4 + Math.min(10, Math.sqrt(degree) * 1.6);

/** Positions the nodes of a graph, starting with their previous positions, and creates a force simulation that moves them with each `tick`. */
export function layoutGraph(
  graph: Graph,
  previous: ReadonlyMap<string, PlacedNode>,
): { nodes: PlacedNode[]; edges: PlacedEdge[]; simulation: Simulation<PlacedNode, undefined> } {
  const degrees = new Map<string, number>();
  for (const { from, to } of graph.edges) for (const id of [from, to]) degrees.set(id, (degrees.get(id) ?? 0) + 1);
  const nodes = graph.nodes.map((node, index): PlacedNode => {
    const old = previous.get(node.id);
    // New nodes start on a spiral, so that the forces have little to untangle.
    const [angle, radius] = [index * 2.4, 14 * Math.sqrt(index + 1)];
    return { ...node, x: old?.x ?? radius * Math.cos(angle), y: old?.y ?? radius * Math.sin(angle), degree: degrees.get(node.id) ?? 0 };
  });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = graph.edges.flatMap(({ from, to, kind }): PlacedEdge[] => {
    const [source, target] = [byId.get(from), byId.get(to)];
    return source && target ? [{ source, target, kind }] : [];
  });
  const simulation = forceSimulation(nodes)
    .stop()
    .alphaDecay(nodes.length > LARGE_GRAPH_NODES ? 0.06 : 0.03)
    .force(
      'charge',
      forceManyBody<PlacedNode>()
        .strength(-60)
        .theta(nodes.length > LARGE_GRAPH_NODES ? 1.5 : 1)
        .distanceMax(500),
    )
    .force('links', forceLink<PlacedNode, PlacedEdge>(edges).distance(50))
    .force('x', forceX(0).strength(0.05))
    .force('y', forceY(0).strength(0.05));
  // With thousands of nodes this costs more than everything else, without a visible effect.
  if (nodes.length <= LARGE_GRAPH_NODES)
    simulation.force(
      'apart',
      forceCollide<PlacedNode>((node) => getNodeRadius(node) + 3),
    );
  return { nodes, edges, simulation };
}

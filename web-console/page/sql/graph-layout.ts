// Where nodes stand: a force layout in a fixed number of steps, from places that depend on the order of the nodes alone, so that the same
// rows are the same picture. A chunk of its own, since most results are no graphs.

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type SimulationLinkDatum, type SimulationNodeDatum } from 'd3-force';
import type { Graph } from './graph.ts';

export interface Point {
  x: number;
  y: number;
}

const STEPS = 300;
/** A large graph's steps take some milliseconds each, and the page stands still meanwhile. */
const STEPS_LARGE = 150;
/** A picture that grows moves less than one that begins. */
const STEPS_AGAIN = 120;
const ALPHA_AGAIN = 0.4;
/** What is left of the movement in the end. */
const COLD = 0.001;
/** How far apart nodes stand: with room for labels, unless there are too many to read them all at once. */
const ROOMY = { link: 125, repulsion: -450, room: 30 };
const TIGHT = { link: 46, repulsion: -110, room: 15 };
const ROOMY_MAX = 120;
/** Nodes further apart do not push each other: parts without a common edge would drift away. */
const REPULSION_REACH = 500;
const CENTRE_PULL = 0.06;
/** New nodes begin so far from a neighbour that stands already, each at another angle. */
const BESIDE = 40;
/** In radians; no two of some hundred angles come close. */
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

interface Placed extends SimulationNodeDatum {
  id: string;
}

/** A place for each node, by its id. Nodes that have a place in `before` stay close to it. */
export function layout(graph: Graph, before: ReadonlyMap<string, Point>): Map<string, Point> {
  const isAgain = graph.nodes.some((node) => before.has(node.id));
  const nodes = graph.nodes.map((node, index): Placed => {
    const stood = before.get(node.id);
    if (stood) return { id: node.id, x: stood.x, y: stood.y };
    const neighbour = node.edges.map((edge) => before.get(edge.source) ?? before.get(edge.target)).find((place) => place !== undefined);
    if (!neighbour) return { id: node.id };
    const angle = index * GOLDEN_ANGLE;
    return { id: node.id, x: neighbour.x + BESIDE * Math.cos(angle), y: neighbour.y + BESIDE * Math.sin(angle) };
  });
  const links = graph.edges.map((edge): SimulationLinkDatum<Placed> => ({ source: edge.source, target: edge.target }));
  const isLarge = nodes.length > ROOMY_MAX;
  const spacing = isLarge ? TIGHT : ROOMY;
  const steps = isAgain ? STEPS_AGAIN : isLarge ? STEPS_LARGE : STEPS;
  const simulation = forceSimulation(nodes)
    .force('link', forceLink<Placed, SimulationLinkDatum<Placed>>(links).id((node) => node.id).distance(spacing.link))
    .force('charge', forceManyBody().strength(spacing.repulsion).distanceMax(REPULSION_REACH))
    .force('collide', forceCollide(spacing.room))
    .force('x', forceX(0).strength(CENTRE_PULL))
    .force('y', forceY(0).strength(CENTRE_PULL))
    // It has cooled down after the last step.
    .alphaDecay(1 - COLD ** (1 / steps))
    .stop();
  if (isAgain) simulation.alpha(ALPHA_AGAIN);
  simulation.tick(steps);
  return new Map(nodes.map((node) => [node.id, { x: node.x ?? 0, y: node.y ?? 0 }]));
}

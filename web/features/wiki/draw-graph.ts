import type { PlacedEdge, PlacedNode } from './graph-layout.ts';
import { getNodeRadius } from './graph-layout.ts';

/** Viewport of the graph: a canvas coordinate is `x + k ·` that of the graph, in CSS pixels. */
export interface GraphViewport {
  x: number;
  y: number;
  k: number;
}

interface GraphScene {
  nodes: readonly PlacedNode[];
  edges: readonly PlacedEdge[];
  viewport: GraphViewport;
  /** Ids of highlighted nodes, all others are pale; null: none is pale. */
  highlighted: ReadonlySet<string> | null;
  active: string | null;
}

/** Maximum number of node names, which are drawn if there is room, and their line height in pixels. */
const MAX_LABELS = 60;
const LINE_PX = 14;

/** Draws a graph in the colours of the page. */
export function drawGraph(canvas: HTMLCanvasElement, { nodes, edges, viewport, highlighted, active }: GraphScene): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const style = getComputedStyle(canvas);
  // Resolved by the style of the canvas, as its context does not support colours of both schemes.
  const { color: ink, columnRuleColor: line, caretColor: accent, textDecorationColor: bad, backgroundColor: ground } = style;
  const scale = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const toCanvasPoint = ({ x, y }: PlacedNode): [number, number] => [viewport.x + viewport.k * x, viewport.y + viewport.k * y];
  const isHighlighted = (id: string): boolean => highlighted === null || highlighted.has(id);
  for (const kind of ['link', 'contradiction'] as const) {
    context.strokeStyle = kind === 'link' ? line : bad;
    context.lineWidth = kind === 'link' ? 1 : 2;
    context.setLineDash(kind === 'link' ? [] : [5, 4]);
    for (const pale of [false, true]) {
      context.globalAlpha = pale ? 0.2 : 1;
      context.beginPath();
      for (const { source, target, kind: edgeKind } of edges) {
        if (edgeKind !== kind || (isHighlighted(source.id) && isHighlighted(target.id)) === pale) continue;
        context.moveTo(...toCanvasPoint(source));
        context.lineTo(...toCanvasPoint(target));
      }
      context.stroke();
    }
  }
  context.setLineDash([]);
  for (const node of nodes) {
    const [x, y] = toCanvasPoint(node);
    if (x < -40 || y < -40 || x > width + 40 || y > height + 40) continue;
    context.globalAlpha = isHighlighted(node.id) ? 1 : 0.2;
    context.beginPath();
    context.arc(x, y, Math.max(2, getNodeRadius(node) * Math.min(1.5, Math.sqrt(viewport.k))), 0, 2 * Math.PI);
    context.fillStyle = node.path === null ? ground : node.contradicted ? bad : accent;
    context.fill();
    context.strokeStyle = node.id === active ? ink : node.path === null ? accent : ground;
    context.lineWidth = node.id === active ? 3 : 1;
    context.stroke();
  }
  context.font = `12px ${style.fontFamily}`;
  context.textAlign = 'center';
  context.lineWidth = 3;
  context.strokeStyle = ground;
  context.fillStyle = ink;
  const visibleNodes = nodes.filter((node) => {
    const [x, y] = toCanvasPoint(node);
    return x > 0 && y > 0 && x < width && y < height && isHighlighted(node.id);
  });
  const labelled = [...visibleNodes]
    .sort((a, b) => b.degree - a.degree)
    .slice(0, visibleNodes.length <= MAX_LABELS ? undefined : MAX_LABELS / 2);
  context.globalAlpha = 1;
  // Labels in order of priority: the active node first, then those with the most connections. A label that would overlap another is left
  // out.
  const occupied: { left: number; right: number; line: number }[] = [];
  for (const node of new Set([...nodes.filter(({ id }) => id === active), ...labelled])) {
    const [x, y] = toCanvasPoint(node);
    const name = node.title.length > 30 ? `${node.title.slice(0, 29)}…` : node.title;
    const below = y + getNodeRadius(node) * Math.min(1.5, Math.sqrt(viewport.k)) + LINE_PX;
    const half = context.measureText(name).width / 2 + 2;
    const span = { left: x - half, right: x + half, line: below };
    if (occupied.some(({ left, right, line }) => span.left < right && left < span.right && Math.abs(line - below) < LINE_PX)) continue;
    occupied.push(span);
    context.strokeText(name, x, below);
    context.fillText(name, x, below);
  }
}

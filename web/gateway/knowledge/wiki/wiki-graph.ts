import { ClaimStatus } from './claim.ts';
import { findContradictingPairs } from './contradiction/contradiction.ts';
import { MAX_PAIRS } from './wiki-health.ts';
import { LinkTargets } from './wiki-links.ts';
import { getPageName } from './page-path.ts';
import type { WikiVault } from './wiki-vault.ts';

/** A page, or the target of a link that is not a page yet. */
interface GraphNode {
  /** The page's path; `?` and the name if there is no page. */
  id: string;
  title: string;
  path: string | null;
  kind?: string;
  claims: number;
  contradicted: boolean;
}

interface GraphEdge {
  from: string;
  to: string;
  kind: 'link' | 'contradiction';
}

/** The pages of a wiki and the links between them, each edge once. */
export async function buildGraph(vault: WikiVault, signal: AbortSignal): Promise<{ nodes: GraphNode[]; edges: GraphEdge[] }> {
  const { files } = await vault.graph();
  const claims = (await vault.claims.listClaims()).filter(({ status }) => status === ClaimStatus.ACTIVE);
  const counts = Map.groupBy(claims, ({ pagePath }) => pagePath);
  const linkedPages = [...files.values()].map(({ page: { path, title, aliases = [], kind }, links }) => ({
    path,
    title,
    aliases,
    kind,
    links,
  }));
  const targets = new LinkTargets(linkedPages);
  const nodes = new Map<string, GraphNode>();
  const edges = new Map<string, GraphEdge>();
  const addEdge = (edge: GraphEdge): void => void (edge.from !== edge.to && edges.set(`${edge.kind}\n${edge.from}\n${edge.to}`, edge));
  const addMissingNode = (id: string, title: string): void =>
    void (nodes.has(id) || nodes.set(id, { id, title, path: null, claims: counts.get(id)?.length ?? 0, contradicted: false }));
  for (const { path, title, kind } of linkedPages)
    nodes.set(path, {
      id: path,
      title,
      path,
      ...(kind !== undefined && { kind }),
      claims: counts.get(path)?.length ?? 0,
      contradicted: false,
    });
  for (const { path: from, links } of linkedPages)
    for (const target of new Set(links.map((link) => link.target))) {
      const to = targets.resolve(target, from);
      const id = to ?? `?${target.toLowerCase()}`;
      if (to === undefined) addMissingNode(id, target);
      addEdge({ from, to: id, kind: 'link' });
    }
  for (const { claims: pair } of await findContradictingPairs(claims, { most: MAX_PAIRS, signal })) {
    const [from, to] = pair.map(({ pagePath }) => pagePath).sort();
    if (from === undefined || to === undefined) continue;
    for (const id of [from, to]) {
      addMissingNode(id, getPageName(id));
      const node = nodes.get(id);
      if (node) node.contradicted = true;
    }
    addEdge({ from, to, kind: 'contradiction' });
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

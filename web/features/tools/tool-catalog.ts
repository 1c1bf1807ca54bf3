import type { ToolEntry } from '#shared/rpc/methods/tool-contracts.ts';
import type { ToolPolicy } from '#shared/rpc/tool-policies.ts';
import { m } from '#app/i18n/messages.ts';

/** The tools of one source. */
interface ToolGroup {
  source: string;
  title: string;
  tools: ToolEntry[];
}

const SOURCE_TITLES: Readonly<Record<string, () => string>> = {
  core: () => m.tools_source_core(),
  memory: () => m.tools_source_memory(),
  office: () => m.tools_source_office(),
  bridge: () => m.tools_source_bridge(),
};

/** Title of a source; for an MCP server, its name. */
export const getSourceTitle = (source: string): string =>
  source.startsWith('mcp:')
    ? m.tools_source_server({ name: source.slice(4) })
    : Object.hasOwn(SOURCE_TITLES, source)
      ? (SOURCE_TITLES[source]?.() ?? source)
      : source;

/** Finds tools that contain all words of `text`, grouped by source: built-in ones first, then those of MCP servers. */
export function groupTools(tools: readonly ToolEntry[], text: string): ToolGroup[] {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = tools.filter(({ name, title = '', summary = '', description, source }) => {
    const searchText = `${name} ${title} ${summary} ${description} ${getSourceTitle(source)}`.toLowerCase();
    return terms.every((word) => searchText.includes(word));
  });
  const groups = Map.groupBy(matches, ({ source }) => source);
  return [...groups]
    .map(([source, sourceTools]) => ({ source, title: getSourceTitle(source), tools: sourceTools }))
    .sort((a, b) => getSourceRank(a.source) - getSourceRank(b.source) || (a.title < b.title ? -1 : 1));
}

const getSourceRank = (source: string): number => (source === 'core' ? 0 : source.startsWith('mcp:') ? 2 : 1);

/** Labels of tool policies. */
export const POLICY_LABELS: Readonly<Record<ToolPolicy, () => string>> = {
  auto: () => m.tools_runs_auto(),
  ask: () => m.tools_runs_ask(),
  deny: () => m.tools_runs_never(),
};

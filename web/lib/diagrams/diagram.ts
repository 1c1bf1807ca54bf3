/** Whether a block of code in this language is a diagram. */
export const isDiagram = (language: string): boolean => /^(?:mermaid|mmd)$/i.test(language);

/** Longer sources are shown as they are written. UTF-16 units. */
export const MOST_CHARS = 50_000;

/** What Mermaid calls its kinds, in words; without what follows a hyphen. */
const KINDS: Record<string, string> = {
  architecture: 'Architecture diagram',
  block: 'Block diagram',
  c4: 'C4 diagram',
  class: 'Class diagram',
  classDiagram: 'Class diagram',
  er: 'Entity relationship diagram',
  flowchart: 'Flowchart',
  gantt: 'Gantt chart',
  gitGraph: 'Git graph',
  journey: 'User journey',
  kanban: 'Kanban board',
  mindmap: 'Mind map',
  packet: 'Packet diagram',
  pie: 'Pie chart',
  quadrantChart: 'Quadrant chart',
  radar: 'Radar chart',
  requirement: 'Requirement diagram',
  sankey: 'Sankey diagram',
  sequence: 'Sequence diagram',
  state: 'State diagram',
  stateDiagram: 'State diagram',
  timeline: 'Timeline',
  treemap: 'Treemap',
  xychart: 'Chart',
};

/** The kind of a diagram in words, from Mermaid's name of it. */
export function kindOf(type: string): string {
  const [name = ''] = type.split('-');
  return (Object.hasOwn(KINDS, name) && KINDS[name]) || 'Diagram';
}

/**
 * What is wrong with a source, in one sentence, and where in the parser's words. Lines are counted as they are written where nothing is above them that
 * the parser takes out before it counts: a front matter, comments and directives.
 */
export function mistakeOf(source: string, line: number | null, text: string): { sentence: string; where: string } {
  const counted = line !== null && !/^\s*(?:---|%%)/m.test(source);
  const [where = ''] = text.split(/\n(?=Expecting |Lexer error|Parser error)/);
  const unknown = /^No diagram type detected/.test(text);
  return {
    sentence: unknown
      ? 'This is not a kind of diagram that Mermaid knows.'
      : counted
        ? `This diagram has a mistake in line ${line}.`
        : 'This diagram has a mistake.',
    where: unknown ? '' : where.split('\n').slice(0, 4).join('\n').slice(0, 500),
  };
}

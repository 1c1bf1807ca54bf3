import { formatNumber } from '../../i18n/format.ts';
import { m } from '../../i18n/messages.ts';

/** Whether a block of code in this language is a diagram. */
export const isDiagram = (language: string): boolean => /^(?:mermaid|mmd)$/i.test(language);

/** Maximum length of a source in UTF-16 units; longer ones are shown as code. */
export const MAX_DIAGRAM_CHARS = 50_000;

/** Names of Mermaid's kinds of diagrams, by the part before a hyphen. */
const KIND_NAMES: Record<string, () => string> = {
  architecture: () => m.reply_diagram_architecture(),
  block: () => m.reply_diagram_block(),
  c4: () => m.reply_diagram_c4(),
  class: () => m.reply_diagram_class(),
  classDiagram: () => m.reply_diagram_class(),
  er: () => m.reply_diagram_er(),
  flowchart: () => m.reply_diagram_flowchart(),
  gantt: () => m.reply_diagram_gantt(),
  gitGraph: () => m.reply_diagram_git(),
  journey: () => m.reply_diagram_journey(),
  kanban: () => m.reply_diagram_kanban(),
  mindmap: () => m.reply_diagram_mindmap(),
  packet: () => m.reply_diagram_packet(),
  pie: () => m.reply_diagram_pie(),
  quadrantChart: () => m.reply_diagram_quadrant(),
  radar: () => m.reply_diagram_radar(),
  requirement: () => m.reply_diagram_requirement(),
  sankey: () => m.reply_diagram_sankey(),
  sequence: () => m.reply_diagram_sequence(),
  state: () => m.reply_diagram_state(),
  stateDiagram: () => m.reply_diagram_state(),
  timeline: () => m.reply_diagram_timeline(),
  treemap: () => m.reply_diagram_treemap(),
  xychart: () => m.reply_diagram_xy(),
};

/** The kind of a diagram in words, from Mermaid's name of it. */
export function getDiagramKind(type: string): string {
  const [name = ''] = type.split('-');
  return (Object.hasOwn(KIND_NAMES, name) && KIND_NAMES[name]?.()) || m.reply_diagram();
}

/**
 * Describes an error in a source in one sentence, and its place in the parser's words. Line numbers are given if nothing above them is
 * removed by the parser before counting: a front matter, comments and directives.
 */
export function describeSyntaxError(source: string, line: number | null, text: string): { sentence: string; where: string } {
  const hasLineNumber = line !== null && line > 0 && !/^\s*(?:---|%%)/m.test(source);
  const [where = ''] = text.split(/\n(?=Expecting |Lexer error|Parser error)/);
  const unknown = /^No diagram type detected/.test(text);
  return {
    sentence: unknown
      ? m.reply_diagram_unknown()
      : hasLineNumber
        ? m.reply_diagram_mistake_line({ line: formatNumber(line) })
        : m.reply_diagram_mistake(),
    where: unknown ? '' : where.split('\n').slice(0, 4).join('\n').slice(0, 500),
  };
}

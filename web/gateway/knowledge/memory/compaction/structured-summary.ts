import { type MemoryMessage, getText } from '../memory-message.ts';

/** Sections of a summary. */
export interface SummaryFields {
  goals: string[];
  constraints: string[];
  progress: string;
  decisions: string[];
  nextSteps: string[];
  keyContext: string[];
}

const TITLES: readonly [keyof SummaryFields, string][] = [
  ['goals', 'Goals'],
  ['constraints', 'Constraints'],
  ['progress', 'Progress'],
  ['decisions', 'Decisions'],
  ['nextSteps', 'Next steps'],
  ['keyContext', 'Key context'],
];

const LEAD = 'Summary of the conversation so far:\n\n';

/** The summary of a conversation that was too long. */
export class StructuredSummary implements SummaryFields {
  readonly goals: string[];
  readonly constraints: string[];
  readonly progress: string;
  readonly decisions: string[];
  readonly nextSteps: string[];
  readonly keyContext: string[];

  constructor(fields: Partial<SummaryFields> = {}) {
    this.goals = [...(fields.goals ?? [])];
    this.constraints = [...(fields.constraints ?? [])];
    this.progress = fields.progress ?? '';
    this.decisions = [...(fields.decisions ?? [])];
    this.nextSteps = [...(fields.nextSteps ?? [])];
    this.keyContext = [...(fields.keyContext ?? [])];
  }

  /** Whether all sections are empty. */
  get isEmpty(): boolean {
    return TITLES.every(([name]) => this[name].length === 0);
  }

  /** Markdown with a heading for each non-empty section. */
  toMarkdown(): string {
    return TITLES.flatMap(([name, title]) => {
      const value = this[name];
      if (value.length === 0) return [];
      return `## ${title}\n\n${typeof value === 'string' ? value : value.map((each) => `- ${each.replaceAll('\n', '\n  ')}`).join('\n')}\n`;
    }).join('\n');
  }

  /** The message that replaces the summarised ones. */
  toMessage(): MemoryMessage {
    return { role: 'system', content: `${LEAD}${this.toMarkdown()}` };
  }

  /** Parses a message created by `toMessage`; undefined for any other message. */
  static ofMessage(message: MemoryMessage): StructuredSummary | undefined {
    const text = message.role === 'system' ? getText(message) : '';
    return text.startsWith(LEAD) ? StructuredSummary.parse(text.slice(LEAD.length)) : undefined;
  }

  /**
   * Parses the output of `toMarkdown`, and similar text by models: unknown headings are added to the key context. Empty if there is
   * nothing.
   */
  static parse(markdown: string): StructuredSummary {
    const fields: SummaryFields = { goals: [], constraints: [], progress: '', decisions: [], nextSteps: [], keyContext: [] };
    let current: keyof SummaryFields = 'keyContext';
    const progress: string[] = [];
    for (const line of markdown.split(/\r?\n/)) {
      const heading = /^\s{0,3}(?:#{1,6}\s*|\*\*)(.+?)(?:\*\*)?\s*:?\s*$/.exec(line)?.[1];
      if (heading !== undefined && !/^\s*[-*]\s/.test(line)) {
        current = toField(heading);
        continue;
      }
      if (line.trim() === '') {
        if (current === 'progress' && progress.length > 0) progress.push('');
        continue;
      }
      if (current === 'progress') progress.push(line.trimEnd());
      else addTo(fields[current], line);
    }
    return new StructuredSummary({ ...fields, progress: progress.join('\n').trim() });
  }
}

function addTo(list: string[], line: string): void {
  const item = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line)?.[1];
  // An indented line without a bullet continues the previous item.
  if (item === undefined && /^\s{2,}/.test(line) && list.length > 0) list.push(`${list.pop() ?? ''}\n${line.trim()}`);
  else list.push((item ?? line).trim());
}

function toField(heading: string): keyof SummaryFields {
  const name = heading.toLowerCase().replace(/[^a-z]+/g, '');
  if (/^(users?|main|primary)?goals?|^objectives?/.test(name)) return 'goals';
  if (/^constraints?|^requirements?|^preferences?/.test(name)) return 'constraints';
  if (/^progress|^status|^done|^completed/.test(name)) return 'progress';
  if (/^(key)?decisions?/.test(name)) return 'decisions';
  if (/^nextsteps?|^todo|^openquestions?|^pending/.test(name)) return 'nextSteps';
  return 'keyContext';
}

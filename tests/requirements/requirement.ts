/** One thing the product promises, and where that is written. */
export interface Requirement {
  /** What tests cite: `subject/behaviour`. */
  readonly id: string;
  /** `specified`: the interface documents say so. `chosen`: they are silent and the decisions say so. */
  readonly source: 'specified' | 'chosen';
  /** Document and section. */
  readonly where: string;
  readonly text: string;
}

type Origin = Pick<Requirement, 'source' | 'where'>;

/** A section of a document as a table from id to what it demands. */
export interface Section<Id extends string> {
  readonly origin: Origin;
  readonly texts: Readonly<Record<Id, string>>;
}

const section =
  (source: Requirement['source']) =>
  <const Id extends string>(where: string, texts: Record<Id, string>): Section<Id> => ({ origin: { source, where }, texts });

export const specified = section('specified');
export const chosen = section('chosen');

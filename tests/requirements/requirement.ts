/** A promise of the product and its source. */
export interface Requirement {
  /** Id that tests cite: `subject/behaviour`. */
  readonly id: string;
  /** `specified`: required by the specification of the interface. `chosen`: our own decision where the specification is silent. */
  readonly source: 'specified' | 'chosen';
  /** Document and section. */
  readonly where: string;
  readonly text: string;
}

type Origin = Pick<Requirement, 'source' | 'where'>;

/** A section of a document: requirements by id. */
export interface Section<Id extends string> {
  readonly origin: Origin;
  readonly texts: Readonly<Record<Id, string>>;
}

const section =
  (source: Requirement['source']) =>
  <const Id extends string>(where: string, texts: Record<Id, string>): Section<Id> => ({ origin: { source, where }, texts });

export const specified = section('specified');
export const chosen = section('chosen');

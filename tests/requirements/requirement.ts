/** A promise of the product and its source. */
export interface Requirement {
  /** Id that tests cite: `subject/behaviour`. */
  readonly id: string;
  /** `specifiedSection`: required by the specification of the interface. `chosenSection`: our own decision where the specification is silent. */
  readonly source: 'specified' | 'chosen';
  /** Document and section. */
  readonly where: string;
  readonly text: string;
}

type SectionOrigin = Pick<Requirement, 'source' | 'where'>;

/** A section of a document: requirements by id. */
export interface Section<Id extends string> {
  readonly origin: SectionOrigin;
  readonly texts: Readonly<Record<Id, string>>;
}

const createSection =
  (source: Requirement['source']) =>
  <const Id extends string>(where: string, texts: Record<Id, string>): Section<Id> => ({ origin: { source, where }, texts });

export const specifiedSection = createSection('specified');
export const chosenSection = createSection('chosen');

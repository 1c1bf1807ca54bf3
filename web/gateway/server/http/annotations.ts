import type { Citation, CitedSource } from '#shared/rpc/passage.ts';
import type { ModelEvent } from '../../providers/provider.ts';

/** An annotation of an output text, as `/v1/responses` has it. Indexes are in UTF-16 code units. */
export type Annotation =
  | { type: 'url_citation'; start_index: number; end_index: number; url: string; title: string }
  | { type: 'file_citation'; index: number; file_id: string; filename: string };

type CitationsEvent = Extract<ModelEvent, { type: 'citations' }>;

/** The annotations of an answer. `offset`: that of the part that contains it, in the text of the whole answer. */
export function toAnnotations({ start, citations, sources }: CitationsEvent, offset = 0): Annotation[] {
  const byNumber = new Map(sources.map((source) => [source.number, source]));
  return citations.flatMap((citation) => {
    const source = byNumber.get(citation.number);
    const shift = start - offset;
    return source && citation.start + shift >= 0 ? [toAnnotation(citation, source, shift)] : [];
  });
}

/** Whether a source is cited by its address; a document that was loaded from an address is cited as a document. */
export const isWebSource = (source: CitedSource): source is CitedSource & { url: string } =>
  source.url !== undefined && (source.kind === 'web' || source.documentId === undefined);

function toAnnotation({ start, end }: Citation, source: CitedSource, shift: number): Annotation {
  const { id, title, path, documentId } = source;
  if (isWebSource(source)) return { type: 'url_citation', start_index: start + shift, end_index: end + shift, url: source.url, title };
  return { type: 'file_citation', index: end + shift, file_id: documentId ?? id, filename: path ?? title };
}

/** The same in the form of chat completions. */
export function toCompletionAnnotation(annotation: Annotation): Record<string, unknown> {
  const { type, ...fields } = annotation;
  return { type, [type]: fields };
}

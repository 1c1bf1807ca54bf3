import { withMarkers } from '#shared/citations/with-markers.ts';
import type { CitedSource } from '#shared/rpc/passage.ts';
import type { ReplySegment } from '../state/chat-items.ts';
import { m } from '../i18n/messages.ts';
import { describeCitedSource } from './describe-place.ts';

/** Text of a reply for copying: its citations as numbers in brackets, and a list of their sources at the end. */
export function copyWithSources(segments: readonly ReplySegment[]): string {
  const sources = new Map<number, CitedSource>();
  const texts = segments.flatMap((segment) => {
    if (segment.kind !== 'text' || segment.text === '') return [];
    for (const source of segment.sources ?? []) sources.set(source.number, source);
    return [withMarkers(segment.text, segment.citations ?? [])];
  });
  if (sources.size === 0) return texts.join('\n\n');
  const list = [...sources.values()]
    .sort((a, b) => a.number - b.number)
    .map((source) => `[${source.number}] ${describeCitedSource(source)}${source.url === undefined ? '' : ` – ${source.url}`}`);
  return [...texts, `${m.source_list()}\n${list.join('\n')}`].join('\n\n');
}

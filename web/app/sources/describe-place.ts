import type { CitableSource } from '#shared/rpc/passage.ts';
import { formatNumber } from '../i18n/format.ts';
import { m } from '../i18n/messages.ts';

/** Name of a source: its title, or the host of a page without one. */
export const getSourceTitle = ({ title, url = '', path = '' }: CitableSource): string =>
  title.trim() || path || (URL.parse(url)?.host ?? url);

/** Describes the place of a passage in its document, such as `page 12, Methods`; empty if nothing is known. */
export function describePlace({ kind, url, locator }: CitableSource): string {
  const { page, sheet, headings = [], line, time } = locator ?? { start: 0, end: 0 };
  const parts = [
    kind === 'web' ? URL.parse(url ?? '')?.host : undefined,
    page === undefined ? undefined : m.source_page({ page: formatNumber(page) }),
    sheet,
    headings.at(-1),
    line === undefined ? undefined : m.source_line({ line: formatNumber(line) }),
    time === undefined ? undefined : `${Math.floor(time / 60)}:${String(Math.floor(time % 60)).padStart(2, '0')}`,
  ];
  return parts.filter((part) => part !== undefined && part !== '').join(' · ');
}

/** Name and place of a source for a label. */
export function describeCitedSource(source: CitableSource): string {
  const place = describePlace(source);
  return place === '' ? getSourceTitle(source) : `${getSourceTitle(source)}, ${place}`;
}

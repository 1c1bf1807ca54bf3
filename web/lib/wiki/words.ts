import type { WikiClaimChange } from '#shared/rpc/methods/wiki-records.ts';
import { number } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/pages.ts';

/** Views that an address can name: pages, or another view instead. */
export const VIEWS = ['pages', 'claims', 'contradictions', 'health', 'graph'] as const;
export type View = (typeof VIEWS)[number];

export const viewWords: Record<View, () => string> = {
  pages: () => m.wiki_view_pages(),
  claims: () => m.wiki_view_claims(),
  contradictions: () => m.wiki_view_contradictions(),
  health: () => m.wiki_view_health(),
  graph: () => m.wiki_view_graph(),
};

export const statusWords = {
  ACTIVE: () => m.wiki_status_stands(),
  SUPERSEDED: () => m.wiki_status_superseded(),
  REFUTED: () => m.wiki_status_refuted(),
} as const;

export const eventWords: Record<WikiClaimChange['event'], () => string> = {
  added: () => m.wiki_event_added(),
  imported: () => m.wiki_event_imported(),
  updated: () => m.wiki_event_updated(),
  superseded: () => m.wiki_event_superseded(),
  refuted: () => m.wiki_event_refuted(),
  deleted: () => m.wiki_event_deleted(),
  restored: () => m.wiki_event_restored(),
  kept: () => m.wiki_event_kept(),
};

export const percent = (share: number): string => m.wiki_percent({ percent: number(Math.round(share * 100)) });

/** The address of a view, or of a page, as it is read or edited. */
export function wikiHref({ agent, view, page, edit }: { agent: string; view?: View; page?: string; edit?: boolean }): string {
  const params = new URLSearchParams();
  if (agent !== 'main') params.set('agent', agent);
  if (view && view !== 'pages') params.set('view', view);
  if (page !== undefined) params.set('page', page);
  if (edit) params.set('edit', '');
  const text = params.toString().replace(/=(?=&|$)/g, '');
  return text === '' ? '/wiki' : `/wiki?${text}`;
}

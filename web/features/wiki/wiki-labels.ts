import type { WikiClaimChange } from '#shared/rpc/methods/wiki-records.ts';
import { formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';

/** Views that an address can name: pages, or another view instead. */
export const WIKI_VIEWS = ['pages', 'claims', 'contradictions', 'health', 'graph'] as const;
export type WikiView = (typeof WIKI_VIEWS)[number];

export const VIEW_LABELS: Record<WikiView, () => string> = {
  pages: () => m.wiki_view_pages(),
  claims: () => m.wiki_view_claims(),
  contradictions: () => m.wiki_view_contradictions(),
  health: () => m.wiki_view_health(),
  graph: () => m.wiki_view_graph(),
};

export const STATUS_LABELS = {
  ACTIVE: () => m.wiki_status_stands(),
  SUPERSEDED: () => m.wiki_status_superseded(),
  REFUTED: () => m.wiki_status_refuted(),
} as const;

export const EVENT_LABELS: Record<WikiClaimChange['event'], () => string> = {
  added: () => m.wiki_event_added(),
  imported: () => m.wiki_event_imported(),
  updated: () => m.wiki_event_updated(),
  superseded: () => m.wiki_event_superseded(),
  refuted: () => m.wiki_event_refuted(),
  deleted: () => m.wiki_event_deleted(),
  restored: () => m.wiki_event_restored(),
  kept: () => m.wiki_event_kept(),
};

export const formatPercent = (share: number): string => m.wiki_percent({ percent: formatNumber(Math.round(share * 100)) });

/** The address of a view, or of a page, as it is read or edited. */
export function toWikiHref({ agent, view, page, edit }: { agent: string; view?: WikiView; page?: string; edit?: boolean }): string {
  const params = new URLSearchParams();
  if (agent !== 'main') params.set('agent', agent);
  if (view && view !== 'pages') params.set('view', view);
  if (page !== undefined) params.set('page', page);
  if (edit) params.set('edit', '');
  const text = params.toString().replace(/=(?=&|$)/g, '');
  return text === '' ? '/wiki' : `/wiki?${text}`;
}

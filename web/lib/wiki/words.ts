import type { WikiClaimChange } from '#shared/rpc/methods/wiki-records.ts';

/** What stands in an address: the page, or what is shown in its place. */
export const VIEWS = ['pages', 'claims', 'contradictions', 'health', 'graph'] as const;
export type View = (typeof VIEWS)[number];

export const viewWords: Record<View, string> = {
  pages: 'Pages',
  claims: 'Claims',
  contradictions: 'Contradictions',
  health: 'Health',
  graph: 'Graph',
};

export const statusWords = { ACTIVE: 'Stands', SUPERSEDED: 'Superseded', REFUTED: 'Refuted' } as const;

export const eventWords: Record<WikiClaimChange['event'], string> = {
  added: 'Added',
  imported: 'Read in',
  updated: 'Looked at again',
  superseded: 'Superseded',
  refuted: 'Refuted',
  deleted: 'Deleted',
  restored: 'Brought back',
  kept: 'Kept beside another',
};

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

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

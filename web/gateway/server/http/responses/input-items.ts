import { z } from '#shared/rpc/zod.ts';
import { badRequest } from '../http-error.ts';
import { SUPPORTED_INCLUDES } from './responses-request.ts';
import type { Item } from '../../../storage/records/response-record.ts';
import { parseHttpParams } from '../parse-http-params.ts';

const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
  /** Id of the item before the page. */
  after: z.string().max(200).optional(),
  include: z.array(z.enum(SUPPORTED_INCLUDES)),
});
type PageQuery = z.output<typeof pageQuery>;

/** Reads the query of a list of items. Throws a 400 that names the invalid parameter. */
export function readPage(query: URLSearchParams): PageQuery {
  const { include: _one, 'include[]': _many, ...rest } = Object.fromEntries(query);
  const unknown = Object.keys(rest).find((name) => !Object.hasOwn(pageQuery.shape, name));
  if (unknown !== undefined) throw badRequest(`Unknown parameter \`${unknown}\`.`, unknown);
  return parseHttpParams(pageQuery, { ...rest, include: [...query.getAll('include'), ...query.getAll('include[]')] });
}

/** One page of the items, which are given in chronological order. Throws a 400 if `after` is not one of them. */
export function paginateItems(items: readonly Item[], { limit, order, after }: PageQuery): Record<string, unknown> {
  const ordered = order === 'asc' ? items : items.toReversed();
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) throw badRequest(`No item with id "${after}" (\`after\`).`, 'after');
  const data = ordered.slice(from, from + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? '',
    last_id: data.at(-1)?.id ?? '',
    has_more: from + limit < ordered.length,
  };
}

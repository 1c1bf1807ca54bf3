import { z } from '#shared/rpc/zod.ts';
import type { CollectionDocumentRecord } from '../../../storage/records/collection-records.ts';

type Scalar = string | number | boolean;

/** A condition on the attributes of a document, as the hosted file search has it. */
export type DocumentFilter =
  | { type: 'eq' | 'ne'; key: string; value: Scalar }
  | { type: 'gt' | 'gte' | 'lt' | 'lte'; key: string; value: string | number }
  | { type: 'in' | 'nin'; key: string; value: Scalar[] }
  | { type: 'and' | 'or'; filters: DocumentFilter[] };

/** Maximum number of conditions of a filter, in all its parts. */
const MAX_CONDITIONS = 100;
/** Maximum number of values of one condition. */
const MAX_VALUES = 200;

const key = z.string().min(1).max(64);
const scalar = z.union([z.string(), z.number(), z.boolean()], 'must be a string, a number or a boolean');

const filter: z.ZodType<DocumentFilter> = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['eq', 'ne']), key, value: scalar }),
  z.object({ type: z.enum(['gt', 'gte', 'lt', 'lte']), key, value: z.union([z.string(), z.number()], 'must be a string or a number') }),
  z.object({ type: z.enum(['in', 'nin']), key, value: z.array(scalar).max(MAX_VALUES) }),
  z.object({ type: z.enum(['and', 'or']), filters: z.array(z.lazy(() => filter)).max(MAX_CONDITIONS) }),
]);

/** `filters` of a request. */
export const documentFilter = filter.refine(
  (value) => countConditions(value) <= MAX_CONDITIONS,
  `must have at most ${MAX_CONDITIONS} conditions`,
);

const countConditions = (value: DocumentFilter): number =>
  'filters' in value ? value.filters.reduce((sum, each) => sum + countConditions(each), 1) : 1;

/** Attributes of a document, which filters compare and results show. */
export type DocumentAttributes = Readonly<Record<string, string | number>>;

/** Times are in seconds since 1970. */
export function toAttributes(document: CollectionDocumentRecord, collectionName: string): DocumentAttributes {
  const { path, title, url, mimeType, size, modifiedAt, addedAt } = document;
  return {
    ...{ path, filename: path.split('/').at(-1) ?? path, title, size, collection: collectionName },
    ...(url === undefined ? {} : { url }),
    ...(mimeType === '' ? {} : { mime_type: mimeType }),
    ...(modifiedAt === null ? {} : { modified_at: Math.floor(modifiedAt / 1000) }),
    added_at: Math.floor(addedAt / 1000),
  };
}

/** Whether a document matches. A condition on an attribute that it lacks, or of another type, does not hold. */
export function matchesFilter(condition: DocumentFilter, attributes: DocumentAttributes): boolean {
  if ('filters' in condition) {
    const matches = (each: DocumentFilter): boolean => matchesFilter(each, attributes);
    return condition.type === 'and' ? condition.filters.every(matches) : condition.filters.some(matches);
  }
  const own = Object.hasOwn(attributes, condition.key) ? attributes[condition.key] : undefined;
  if (own === undefined) return false;
  switch (condition.type) {
    case 'eq':
      return own === condition.value;
    case 'ne':
      return own !== condition.value;
    case 'in':
      return condition.value.includes(own);
    case 'nin':
      return !condition.value.includes(own);
    default: {
      const { type, value } = condition;
      if (typeof own !== typeof value) return false;
      if (own === value) return type === 'gte' || type === 'lte';
      return own > value === (type === 'gt' || type === 'gte');
    }
  }
}

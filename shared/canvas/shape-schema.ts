import { z } from '../rpc/zod.ts';
import { idSchema } from './change.ts';
import { KINDS } from './fields.ts';

const { page: _, ...kinds } = KINDS;
const withId = Object.values(kinds).map((kind) => z.strictObject({ id: idSchema, ...kind.shape }));

/** A whole shape with its id, of any kind. */
export const shapeSchema = z.discriminatedUnion('kind', withId as [(typeof withId)[number], ...typeof withId]);

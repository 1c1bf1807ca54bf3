import { z } from '../rpc/zod.ts';
import { idSchema } from './change.ts';
import { FIELDS, KINDS } from './fields.ts';

const { page: _, ...kinds } = KINDS;
/** In files of version 1 no picture says whether it is mirrored. */
const read = { ...kinds, image: kinds.image.extend({ mirrored: FIELDS.mirrored.default(false) }) };
const withId = Object.values(read).map((kind) => z.strictObject({ id: idSchema, ...kind.shape }));

/** A shape of any kind, with its ID. */
export const shapeSchema = z.discriminatedUnion('kind', withId as [(typeof withId)[number], ...typeof withId]);

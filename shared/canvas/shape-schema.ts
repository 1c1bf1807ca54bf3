import { z } from '../rpc/zod.ts';
import { idSchema } from './change.ts';
import { FIELDS, KINDS } from './shape-fields.ts';

const { page: _, ...kinds } = KINDS;
/** Pictures in files of version 1 lack `mirrored`. */
const readableKinds = { ...kinds, image: kinds.image.extend({ mirrored: FIELDS.mirrored.default(false) }) };
const kindSchemas = Object.values(readableKinds).map((kind) => z.strictObject({ id: idSchema, ...kind.shape }));

/** A shape of any kind, with its ID. */
export const shapeSchema = z.discriminatedUnion('kind', kindSchemas as [(typeof kindSchemas)[number], ...typeof kindSchemas]);

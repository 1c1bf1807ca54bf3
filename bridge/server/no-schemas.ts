import type { FastifyServerOptions } from 'fastify';

/** For routes without Fastify schemas, since Zod validates bodies. Prevents loading Ajv and a serializer (tests/bench/NOTES.md). */
export const disableSchemas: FastifyServerOptions['schemaController'] = {
  compilersFactory: { buildValidator: () => rejectSchema, buildSerializer: () => rejectSchema },
};

function rejectSchema(): never {
  throw new Error('Routes of the bridge can’t have schemas');
}

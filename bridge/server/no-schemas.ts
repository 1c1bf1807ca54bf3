import type { FastifyServerOptions } from 'fastify';

/** For routes without Fastify schemas, since Zod validates bodies. Prevents loading Ajv and a serializer (tests/bench/NOTES.md). */
export const noSchemas: FastifyServerOptions['schemaController'] = {
  compilersFactory: { buildValidator: () => refuse, buildSerializer: () => refuse },
};

function refuse(): never {
  throw new Error('Routes of the bridge can’t have schemas');
}

import type { FastifyServerOptions } from 'fastify';

/** For routes that describe nothing to Fastify, as bodies are read by Zod: without it Ajv and a serializer are loaded for nothing (tests/bench/NOTES.md). */
export const noSchemas: FastifyServerOptions['schemaController'] = {
  compilersFactory: { buildValidator: () => refuse, buildSerializer: () => refuse },
};

function refuse(): never {
  throw new Error('Routes of the bridge can’t have schemas');
}

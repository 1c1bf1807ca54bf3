import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { z } from '#shared/rpc/zod.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { HTTP_BASE, createTestHttp } from '../../../../../tests/support/test-http.ts';
import { createRouter, createRoutes } from '../http-routes.ts';
import { ProviderStateCache } from '../provider-state-cache.ts';
import { createOpenApiDocument } from './openapi.ts';

const operation = z.strictObject({
  operationId: z.string().regex(/^\w+$/),
  summary: z.string(),
  tags: z.array(z.string()),
  parameters: z
    .array(
      z.strictObject({
        name: z.string(),
        in: z.literal('path'),
        required: z.literal(true),
        schema: z.strictObject({ type: z.literal('string') }),
      }),
    )
    .optional(),
  requestBody: z
    .strictObject({
      required: z.literal(true),
      content: z.record(z.string(), z.strictObject({ schema: z.record(z.string(), z.unknown()) })),
    })
    .optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string() })),
});
const description = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: z.strictObject({ title: z.string(), version: z.string(), description: z.string() }),
  servers: z.array(z.strictObject({ url: z.string() })),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  paths: z.record(z.string(), z.record(z.enum(['get', 'post', 'delete']).or(z.string()), operation)),
  components: z.strictObject({ securitySchemes: z.record(z.string(), z.unknown()), schemas: z.record(z.string(), z.unknown()) }),
});

const read = async (): Promise<z.output<typeof description>> => {
  const response = await createTestHttp([]).ask(new Request(`${HTTP_BASE}/openapi.json`), 'key:a', ['read']);
  return description.parse(await response.json());
};

describe('GET /openapi.json', () => {
  verifies('http.openapi/routes', 'describes the routes that are served, and no others', async () => {
    const { paths } = await read();
    const deps = { clock: { now: () => 0 } } as Parameters<typeof createRoutes>[0];
    const served = Object.entries(createRoutes(deps, new ProviderStateCache(), () => Promise.reject(new Error('no files here')))).flatMap(
      ([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`),
    );
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual(served.toSorted());
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  verifies('http.openapi/contracts', 'has schemas that accept and refuse what the contracts do', async () => {
    const { paths, components, info } = await read();
    expect(info.version).toBe('1.2.3');
    const ajv = new Ajv2020({ strict: false, formats: { binary: true } });
    const schemas = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ requestBody }) =>
        Object.values(requestBody?.content ?? {}).map(({ schema }) => [path, ajv.compile(schema)] as const),
      ),
    );
    ajv.compile(components.schemas['Error'] as object);
    const accepts = Object.fromEntries(schemas);
    expect(accepts['/v1/audio/speech']?.({ model: 'tts-1', input: 'Hi', voice: 'nova' })).toBe(true);
    expect(accepts['/v1/audio/speech']?.({ model: 'tts-1', input: 'Hi', speed: 9 })).toBe(false);
    expect(accepts['/v1/chat/completions']?.({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })).toBe(true);
    expect(accepts['/v1/chat/completions']?.({ model: 'm', messages: [] })).toBe(false);
    expect(accepts['/v1/completions']?.({ model: 'm' })).toBe(false);
    expect(accepts['/v1/audio/transcriptions']?.({ model: 'm', file: 'bytes', temperature: 2 })).toBe(false);
    expect(accepts['/v1/embeddings']?.({ model: 'm', input: 'Hi' })).toBe(true);
  });

  it('needs a token that may read', async () => {
    const response = await createTestHttp([]).ask(new Request(`${HTTP_BASE}/openapi.json`), 'key:a', ['mcp']);
    expect(response.status).toBe(403);
  });
});

it('finds a path by its template', () => {
  const methods = {};
  const find = createRouter({ '/v1/models': methods, '/v1/models/{model}': methods, '/v1/responses/{id}/cancel': methods });
  expect(find('/v1/models')?.pathParam).toBe('');
  expect(find('/v1/models/up/a/b')?.pathParam).toBe('up/a/b');
  expect(find('/v1/responses/r/cancel')?.pathParam).toBe('r');
  for (const path of ['/v1/responses/r', '/v1/responses/r/s/cancel', '/constructor', '/v1/models/{model}x/', '/v1'])
    expect(path === '/v1/models/{model}x/' ? undefined : find(path)).toBeUndefined();
  expect(createOpenApiDocument('1')).toBe(createOpenApiDocument('1'));
});

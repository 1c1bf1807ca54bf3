import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FRAME_FILE, FRAME_HEADERS } from '#shared/preview-frame.ts';
import { z } from '#shared/rpc/zod.ts';
import { toAdmissionRequest } from './admission.ts';
import { createErrorBody } from './http-errors.ts';
import type { VaultRegistry } from './vault-registry.ts';

const buildFile = z.object({ build: z.string().max(100), workerCsp: z.string().regex(/^[\x20-\x7e]*$/) });

/** Contents of the build's `build.json`. */
type BuildInfo = z.infer<typeof buildFile>;

const NOT_BUILT: BuildInfo = { build: '', workerCsp: "default-src 'none'" };

/** Reads the `build.json` of a built app. Returns `NOT_BUILT` if it is missing. Throws an error that names the file if it is damaged. */
export async function readBuildInfo(appDir: string): Promise<BuildInfo> {
  const path = join(appDir, 'build.json');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    return NOT_BUILT;
  }
  try {
    return buildFile.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(`${path} is damaged. Build the app again.`, { cause: error });
  }
}

/** Whether a request is a browser's navigation to a page. */
export const isNavigation = (method: string | undefined, accept: string | undefined): boolean =>
  (method === 'GET' || method === 'HEAD') && (accept ?? '').includes('text/html');

/** Paths that do not belong to the app. */
const RESERVED = /^\/(v1|api|mcp|openapi\.json|ws|uplink|health|ready|metrics|link|oauth|hooks)(\/|\?|$)/;
export const isReserved = (url: string): boolean => RESERVED.test(url);

/** Worker scripts (`worker.format` of the build puts them there). */
const WORKER_SCRIPTS = /^\/(?:service-worker\.js|_app\/immutable\/workers\/)/;

/** The page without the app's start page; the build writes it (web/start-page.ts). */
const HOST_FILE = 'host.html';

interface AppFilesOptions {
  appDir: string;
  workerCsp: string;
  /** Vaults, each with its pages at its own origin. */
  vaults: Pick<VaultRegistry, 'byHost'>;
}

/**
 * Serves the built app: files with their policies and cache rules, and index.html for every navigation. Available to browsers on this
 * machine, and to others over TLS. Without TLS an exposed gateway serves only the API.
 */
export async function serveAppFiles(app: FastifyInstance, { appDir, workerCsp, vaults }: AppFilesOptions): Promise<void> {
  const pagePolicy = createPolicyReader(join(appDir, 'index.html'), "'none'");
  const hostPolicy = createPolicyReader(join(appDir, HOST_FILE), "'none'");
  const framePolicy = createPolicyReader(join(appDir, FRAME_FILE), "'self'");

  await app.register(fastifyStatic, {
    root: appDir,
    preCompressed: true,
    dotfiles: 'ignore',
    cacheControl: false,
    // Files are sent whole and identified by ETag, which saves other headers on every response.
    acceptRanges: false,
    lastModified: false,
    // Only files are routes here. The handler below serves navigations with the page's policy.
    index: false,
    setHeaders(reply, path) {
      const file = path.slice(appDir.length).replaceAll('\\', '/');
      reply.header('cache-control', file.startsWith('/_app/immutable/') ? 'public, max-age=31536000, immutable' : 'no-cache');
      // A worker follows its own response's policy. For other scripts the header only matters if they are started as a worker.
      if (/\.m?js(\.br|\.gz)?$/.test(file))
        reply.header('content-security-policy', WORKER_SCRIPTS.test(file) ? workerCsp : "default-src 'none'");
    },
  });

  app.addHook('onRequest', async (request, reply) => {
    if (isReserved(request.url)) return;
    const { admission } = vaults.byHost(request.raw);
    const arrival = toAdmissionRequest(request.raw);
    const origin = admission.appOrigin(arrival);
    if (origin === undefined) return reply.code(404).send(createErrorBody(404, 'Only the API is served here'));
    if (!isNavigation(request.method, request.headers.accept)) return;
    if (`${arrival.encrypted ? 'https' : 'http'}://${request.headers.host?.toLowerCase()}` === origin) return;
    return reply.redirect(`${origin}${request.url}`, 307);
  });

  const page = async (_request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const policy = await pagePolicy();
    if (policy === undefined)
      return reply.code(503).type('text/plain').send('The app is not built yet. Run "npm run build", then reload this page.');
    return reply.header('content-security-policy', policy).sendFile('index.html');
  };
  app.get('/', page);
  app.get('/index.html', page);
  // The managed Chromium's page needs nothing of the app.
  app.get('/host', async (request, reply) => {
    const policy = await hostPolicy();
    return policy === undefined ? page(request, reply) : reply.header('content-security-policy', policy).sendFile(HOST_FILE);
  });
  app.get(`/${FRAME_FILE}`, async (_request, reply) => {
    const policy = await framePolicy();
    if (policy === undefined) return reply.code(404).send(createErrorBody(404, 'The app is not built'));
    return reply.headers({ ...FRAME_HEADERS, 'content-security-policy': policy }).sendFile(FRAME_FILE);
  });
  app.setNotFoundHandler(async (request, reply) => {
    if (isNavigation(request.method, request.headers.accept) && !isReserved(request.url)) return page(request, reply);
    return reply.code(404).send(createErrorBody(404, `Not found: ${request.method} ${request.url.replace(/\?.*/, '')}`));
  });
}

/**
 * Returns a function that reads a page's policy from its built file and adds `frame-ancestors`, which `<meta>` can't express. Reads again
 * if the file has changed. Resolves to undefined if the page is not built. Throws if the page has no policy, since it must not be served
 * without one.
 */
function createPolicyReader(path: string, framedBy: string): () => Promise<string | undefined> {
  let cached: { mtimeMs: number; policy: string } | undefined;
  return async () => {
    const found = await stat(path).catch(() => undefined);
    if (!found) return undefined;
    if (cached?.mtimeMs === found.mtimeMs) return cached.policy;
    const meta = /<meta\s+http-equiv="content-security-policy"\s+content="([^"]*)"/i.exec(await readFile(path, 'utf8'))?.[1];
    if (!meta) throw new Error(`${path} has no content security policy. Build the app again.`);
    const policy = `${unescapeHtml(meta).replace(/;\s*$/, '')}; frame-ancestors ${framedBy}`;
    cached = { mtimeMs: found.mtimeMs, policy };
    return policy;
  };
}

const ENTITIES: Record<string, string> = { quot: '"', amp: '&', lt: '<', gt: '>', '#39': "'", '#x27': "'", apos: "'" };
const unescapeHtml = (text: string): string =>
  text.replace(/&(\w+|#\w+);/g, (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole);

import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import adapter from '@sveltejs/adapter-static';
import type { Adapter } from '@sveltejs/kit';
import { sveltekit } from '@sveltejs/kit/vite';
import { type CSSOptions, defineConfig, type Plugin, type Rolldown, type UserConfig } from 'vite';
import { z } from 'zod';
import packageJson from './package.json' with { type: 'json' };
import { compileMessages, watchMessages } from './web/compile-messages.ts';
import { compressFolder } from './web/compress-folder.ts';
import { stripContractDocs } from './web/strip-contract-docs.ts';
import { createChunkNamer } from './web/initial-chunk.ts';
import { createLazyJsonSchemas, isJsonSchemaModule } from './web/lazy-json-schemas.ts';
import { listWorkerChunks } from './web/list-worker-chunks.ts';
import { getLocaleChunk, getModuleLocale, isMessageModule } from './web/locale-chunks.ts';
import { inlineMethodAccess } from './web/inline-method-access.ts';
import { PAGE_POLICY } from './web/page-policy.ts';
import { EMPTY_PAGE, writeStartPage } from './web/start-page.ts';
import { splitRankTables } from './web/split-rank-tables.ts';

/** Sources of the app; the build id is a hash of all of them. */
export const APP_SOURCES = ['web', 'shared', 'public', 'docs/guide', 'vite.config.ts', 'package-lock.json'];

/** A short id that changes exactly when the sources do. */
export function computeBuildId(root = import.meta.dirname): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    const full = join(root, path);
    const entries = readdirSync(full, { withFileTypes: true, recursive: false });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const child = join(path, entry.name);
      if (entry.isDirectory()) add(child);
      else if (!/\.test\.ts$/.test(entry.name)) hash.update(child).update(readFileSync(join(root, child)));
    }
  };
  for (const source of APP_SOURCES) {
    if (/\.\w+$/.test(source)) hash.update(source).update(readFileSync(join(root, source)));
    else add(source);
  }
  return hash.digest('hex').slice(0, 12);
}

/** Content-Security-Policy of the worker: a worker has the policy of its own response, not the page's. */
const WORKER_CSP = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "connect-src 'self' https: http://127.0.0.1:* http://localhost:* ws: wss:",
].join('; ');

/** The built files with the messages of each locale. */
function findLocaleFiles(bundle: Rolldown.OutputBundle): Record<string, string[]> {
  const files: Record<string, string[]> = {};
  for (const chunk of Object.values(bundle)) {
    const [locale] = chunk.type === 'chunk' ? chunk.moduleIds.flatMap((id) => getModuleLocale(id) ?? []) : [];
    if (locale !== undefined) (files[locale] ??= []).push(chunk.fileName);
  }
  return files;
}

/** Leaves what the bridge must know of the build beside it: build id and worker policy. */
function writeBuildInfo(build: string): Plugin {
  return {
    name: 'perch-build-info',
    apply: 'build',
    applyToEnvironment: (environment) => environment.name === 'client',
    generateBundle(_options, bundle) {
      this.emitFile({
        type: 'asset',
        fileName: 'build.json',
        source: JSON.stringify({ build, workerCsp: WORKER_CSP, locales: findLocaleFiles(bundle) }),
      });
    },
  };
}

/** The runtime for ONNX files: 27 MB that only people with models in the browser load. It supports WebGPU and WebAssembly. */
const ONNX_DIR = join(import.meta.dirname, 'node_modules/onnxruntime-web');
const ONNX_NAME = 'ort-wasm-simd-threaded.asyncify';
const onnxVersion = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(ONNX_DIR, 'package.json'), 'utf8'))).version;
const ONNX_PATH = `_app/immutable/onnx-${onnxVersion}`;

/** Beside the built app as it is: compressed three times over it would double what Perch takes on a disk. */
function copyOnnxRuntime(pages: string): void {
  mkdirSync(join(pages, ONNX_PATH), { recursive: true });
  for (const ending of ['.mjs', '.wasm'])
    copyFileSync(join(ONNX_DIR, 'dist', ONNX_NAME + ending), join(pages, ONNX_PATH, ONNX_NAME + ending));
}

/** WebAssembly of Tesseract: 3 MB that only a scan without text loads. */
const TESSERACT = join(import.meta.dirname, 'node_modules/tesseract.js-core/tesseract-core-simd-lstm.wasm');
const TESSERACT_PATH = `_app/immutable/tesseract-${packageJson.devDependencies['tesseract.js']}.wasm`;

/**
 * The Mermaid library: 5.5 MB that pages read as text, for a document without an origin (docs/decisions/0058). Because of its size it is
 * stored once.
 */
const MERMAID = join(import.meta.dirname, 'node_modules/mermaid/dist/mermaid.min.js');
const MERMAID_PATH = `_app/immutable/mermaid-${packageJson.devDependencies.mermaid}.js`;

const WORKERS = '_app/immutable/workers';
const WORKER_PARTS = `${WORKERS}/chunks`;
/** Larger files that are not needed at once are cached after the app, so that the app works offline soon. */
const HEAVY_FILE_BYTES = 90_000;

const MANIFEST = z.looseObject({ icons: z.array(z.looseObject({})) });

/** The page with what it loads beside it. Its inline script changes by that, and with it the hash that its policy has. */
function withRelativeUrls(page: string): string {
  const hashIn = (html: string): string =>
    createHash('sha256')
      .update(/<script>([^]*?)<\/script>/.exec(html)?.[1] ?? '')
      .digest('base64');
  const moved = page.replaceAll(/(href="|src="|import\(")\//g, '$1./');
  return moved.replace(hashIn(page), () => hashIn(moved));
}

/** Moves the files of the manifest next to it, and pages behind the `#`. Parts that need a server of their own are left out. */
function makeRelocatable(pages: string): void {
  const file = join(pages, 'manifest.webmanifest');
  const { name, short_name, description, display, background_color, theme_color, icons } = MANIFEST.parse(
    JSON.parse(readFileSync(file, 'utf8')),
  );
  copyFileSync(join(import.meta.dirname, 'web/app/hash/left.html'), join(pages, 'left.html'));
  const index = join(pages, 'index.html');
  writeFileSync(index, withRelativeUrls(readFileSync(index, 'utf8')));
  const relativeIcons = icons.map((icon) => ({ ...icon, src: `.${String(icon['src'])}` }));
  const start = { name: `${String(name)} demo`, short_name, description, start_url: './', scope: './' };
  writeFileSync(file, JSON.stringify({ ...start, display, background_color, theme_color, icons: relativeIcons }));
}

/** In the demo the app's paths are behind the `#` (web/app/hash): what its pages import of SvelteKit is put through there. */
function hashRoutesPlugin(): Plugin {
  const wrappers = join(import.meta.dirname, 'web/app/hash');
  return {
    name: 'perch-hash-routes',
    enforce: 'pre',
    resolveId(source, importer = '') {
      const name = ['navigation', 'state'].find((each) => source === `$app/${each}` || source.endsWith(`runtime/app/${each}`));
      const own = importer.startsWith(import.meta.dirname) && !importer.includes('/node_modules/') && !importer.startsWith(wrappers);
      return name !== undefined && own ? join(wrappers, `${name}.ts`) : null;
    },
  };
}

/** A copy of the routes without their page options: with hash routes nothing is rendered elsewhere, and SvelteKit refuses to have that said. */
function copyDemoRoutes(): string {
  const folder = join(import.meta.dirname, '.cache/demo');
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(import.meta.dirname, 'web/routes'), join(folder, 'routes'), { recursive: true });
  for (const style of ['app.css', 'contrast.css']) copyFileSync(join(import.meta.dirname, 'web', style), join(folder, style));
  for (const options of ['+layout.ts', '(app)/(chat)/+page.ts']) rmSync(join(folder, 'routes', options));
  return '.cache/demo/routes';
}

function fillPlaceholder(script: string, placeholder: string, value: unknown): string {
  const after = script.replace(placeholder, JSON.stringify(value));
  if (after === script) throw new Error(`the service worker has no ${placeholder}`);
  return after;
}

/** Tells the service worker of the worker's parts and of the languages, before the files are compressed. */
function injectBuildFiles(inner: Adapter): Adapter {
  return {
    ...inner,
    async adapt(builder) {
      const client = builder.getClientDirectory();
      const scriptsIn = (folder: string): string[] => readdirSync(join(client, folder)).filter((name) => name.endsWith('.js'));
      const workers = scriptsIn(WORKERS).map((name) => readFileSync(join(client, WORKERS, name), 'utf8'));
      const parts = scriptsIn(WORKER_PARTS).map((name) => ({
        path: `${WORKER_PARTS}/${name}`,
        heavy: statSync(join(client, WORKER_PARTS, name)).size > HEAVY_FILE_BYTES && !workers.some((script) => script.includes(name)),
      }));
      const file = join(client, 'service-worker.js');
      const before = readFileSync(file, 'utf8');
      const { locales } = JSON.parse(readFileSync(join(client, 'build.json'), 'utf8')) as { locales: object };
      const after = fillPlaceholder(fillPlaceholder(before, '__PERCH_WORKER_PARTS__', parts), '__PERCH_LOCALE_FILES__', locales);
      writeFileSync(file, after);
      await inner.adapt(builder);
      if (!DEMO) writeStartPage(PAGES);
      if (!DEMO) await compressFolder(PAGES, { quickly: process.env.PERCH_COMPRESS === 'quickly' });
      copyFileSync(MERMAID, join(PAGES, MERMAID_PATH));
      if (DEMO) makeRelocatable(PAGES);
      else {
        copyOnnxRuntime(PAGES);
        copyFileSync(TESSERACT, join(PAGES, TESSERACT_PATH));
      }
    },
  };
}

type PostcssPlugins = Exclude<NonNullable<CSSOptions['postcss']>, string>['plugins'];

/** KaTeX's style names each font in three formats: browsers that Perch runs in read the first, which is the smallest. */
const POSTCSS_PLUGINS: PostcssPlugins = [
  {
    postcssPlugin: 'perch-math-fonts',
    Once(root, { list }) {
      if (!root.source?.input.file?.endsWith('katex.min.css')) return;
      root.walkAtRules('font-face', (rule) => {
        rule.walkDecls('src', (source) => {
          source.value = list.comma(source.value)[0] ?? source.value;
        });
      });
    },
  },
];

compileMessages();

const build = process.env.PERCH_BUILD_ID ?? computeBuildId();
/** `npm run build:demo`: a folder for any file host, under any path. */
const DEMO = process.env.PERCH_DEMO === '1';
const PAGES = process.env.PERCH_BUILD_DIR ?? (DEMO ? 'dist/demo' : 'dist/app');

export default defineConfig(({ command }) => {
  // A build is for production wherever it is started from: Vite would take a test runner's NODE_ENV for development.
  if (command === 'build') process.env.NODE_ENV = 'production';
  const onnx = command === 'build' ? `/${ONNX_PATH}/${ONNX_NAME}` : `/@fs${join(ONNX_DIR, 'dist', ONNX_NAME)}`;
  const mermaid = command === 'build' ? MERMAID_PATH : `@fs${MERMAID}`;
  const tesseract = command === 'build' ? (DEMO ? '' : `/${TESSERACT_PATH}`) : `/@fs${TESSERACT}`;
  const places = { __PERCH_ONNX__: onnx, __PERCH_MERMAID__: mermaid, __PERCH_TESSERACT__: tesseract };
  const defined = Object.fromEntries(Object.entries(places).map(([name, place]) => [name, JSON.stringify(place)]));
  return { ...config, define: { ...config.define, ...defined } };
});

/** Matches the modules of these files. Throws for a source that does not exist, so that a renamed one is noticed. */
function isFile(...paths: string[]): (id: string) => boolean {
  for (const path of paths) if (!existsSync(join(import.meta.dirname, path))) throw new Error(`vite.config.ts: no file "${path}"`);
  return (id) => paths.some((path) => id.replaceAll('\\', '/').endsWith(`/${path}`));
}

/** Readers of documents, tables of tokenizers, audio codecs, the client of a cluster, and the demo. */
const HEAVY_MODULES = /[\\/]gateway[\\/](documents|audio|demo|nats)[\\/]|[\\/]tokens[\\/]tokenizers|[\\/]gpt-tokenizer[\\/]/;

/** Methods and their contracts: one file for those that a gateway's start does not need. */
const METHODS = /[\\/]web[\\/]gateway[\\/].*-methods\.ts$/;

/** Modules of a first visit: the app's frame and its chat. */
const FIRST_PAGE = /[\\/]routes[\\/]\(app\)[\\/](\(chat\)[\\/].*)?\+\w+\.(svelte|ts)$/;

const config: UserConfig = {
  define: { __PERCH_BUILD__: JSON.stringify(build), __PERCH_VERSION__: JSON.stringify(packageJson.version), __PERCH_DEMO__: String(DEMO) },
  worker: {
    format: 'es',
    plugins: () => [
      stripContractDocs(),
      splitRankTables(),
      inlineMethodAccess(),
      createLazyJsonSchemas(),
      listWorkerChunks({ worker: 'web/gateway/host/worker.ts', build, heavy: HEAVY_MODULES }),
    ],
    // A worker's initial modules form one file: chunks shared with its lazy modules would split it into a hundred.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: createChunkNamer('start', (_id, { isEntry }) => isEntry), test: (id) => !isJsonSchemaModule(id), priority: 2 },
            { name: createChunkNamer('methods', (id) => METHODS.test(id)), priority: 1 },
          ],
        },
      },
    },
  },
  // The build of it that leaves its WebAssembly outside.
  resolve: { alias: { 'onnxruntime-web/webgpu': join(ONNX_DIR, 'dist/ort.webgpu.min.mjs') } },
  css: { postcss: { plugins: POSTCSS_PLUGINS } },
  // The page's policy allows no fonts within a style.
  build: { target: 'es2023', assetsInlineLimit: (file) => (file.endsWith('.woff2') ? false : undefined) },
  environments: {
    client: {
      build: {
        rolldownOptions: {
          output: {
            // Modules shared by pages go into few files (the managed Chromium's page needs all but the last two): with many small files,
            // headers and round trips cost more than unused code. Applied after SvelteKit's own groups.
            codeSplitting: {
              groups: [
                // SvelteKit's client reads, when it is loaded, what this was told before: they must not be one file.
                { name: 'start', test: /client[\\/]payload\.js$|preload-helper/, priority: -1 },
                { name: 'framework', test: /node_modules[\\/](svelte|@sveltejs)[\\/]/, minShareCount: 2, priority: -2 },
                {
                  name: 'host',
                  test: isFile('web/app/connection/worker-host.ts', 'shared/link/credential-proof.ts'),
                  minShareCount: 2,
                  priority: -3,
                },
                // With what only the frame or the chat uses: in one file they compress better.
                { name: createChunkNamer('app', (id) => FIRST_PAGE.test(id)), test: (id) => !isMessageModule(id), priority: -4 },
                { name: getLocaleChunk, priority: -5 },
                // Loaded soon after each start, and shared with pages.
                { name: 'updates', test: isFile('web/app/shell/app-update-gate.svelte.ts'), minShareCount: 2, priority: -5.5 },
                // Looked at wherever a browser might have a model of its own.
                { name: 'built-in', test: isFile('web/app/built-in-model/language-model.ts'), minShareCount: 2, priority: -6 },
                // English messages of several pages: a chunk of their own, so that what needs one of them does not load all that pages share.
                { name: 'messages', test: (id) => isMessageModule(id) && !getModuleLocale(id), minShareCount: 2, priority: -6.5 },
                // Loaded while the first page is idle: without the rest of what pages share.
                {
                  name: createChunkNamer(
                    'soon',
                    isFile(
                      'web/features/collections/DropTarget.svelte',
                      'web/app/shell/Toaster.svelte',
                      'web/features/sidebar/ProjectSection.svelte',
                    ),
                  ),
                  test: (id) => !isMessageModule(id),
                  minShareCount: 2,
                  priority: -6.8,
                },
                {
                  name: createChunkNamer('answers', isFile('web/features/chat/lazy-chat-components.ts')),
                  test: (id) => !isMessageModule(id),
                  minShareCount: 2,
                  priority: -7,
                },
                { name: 'pages', test: /\.(ts|js|mjs|svelte)$/, minShareCount: 2, priority: -8 },
              ],
            },
          },
        },
      },
    },
  },
  plugins: [
    watchMessages(),
    writeBuildInfo(build),
    ...(DEMO ? [hashRoutesPlugin()] : []),
    sveltekit({
      adapter: injectBuildFiles(
        adapter({
          pages: PAGES,
          // With hash routes SvelteKit writes the page itself, with paths that hold wherever the folder lies.
          ...(DEMO ? {} : { fallback: EMPTY_PAGE }),
          precompress: false,
          strict: false,
        }),
      ),
      files: { src: 'web', assets: 'public', ...(DEMO ? { routes: copyDemoRoutes() } : {}) },
      version: { name: build, pollInterval: 0 },
      serviceWorker: { register: false },
      ...(DEMO ? { router: { type: 'hash' } } : {}),
      prerender: { crawl: false, entries: DEMO ? [] : ['/'] },
      csp: { mode: 'hash', directives: PAGE_POLICY },
    }),
  ],
};

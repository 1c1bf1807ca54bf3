import { readdirSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import importX, { createNodeResolver } from 'eslint-plugin-import-x';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

// Pages know the worker by its URL alone.
const WORKER_BY_URL = ['./host/worker.ts?sharedworker&url', './host/worker.ts?worker&url'];

/** What `perch/memory` and its kin are faces of. */
const LIBRARY_PARTS = ['memory', 'recall', 'wiki', 'dreaming'].map((part) => `knowledge/${part}`);

/** The gateway's rooms: a room may import those of its own tier and of earlier ones (ARCHITECTURE.md). */
const GATEWAY_TIERS = [
  ['storage'],
  ['sync'],
  ['nats'],
  ['ports'],
  ['config', 'system'],
  ['providers', 'documents', 'drawings', 'browser-models', 'audio'],
  ['agent'],
  ['automation'],
  ['server'],
  ['host', 'demo'],
];
/** Folders of the pages, which know the worker by its URL alone. */
const PAGE_FOLDERS = ['canvas', 'kit', 'app', 'features', 'routes'].map((folder) => `./web/${folder}`);
const FEATURES = readdirSync(join(import.meta.dirname, 'web/features'));

/** Pages: canvas and kit know nothing of the app; the app knows no feature; a feature is entered by its `index.ts`. */
const PAGE_WALLS = [
  { target: PAGE_FOLDERS, from: './web/gateway', except: WORKER_BY_URL },
  { target: PAGE_FOLDERS, from: './web/library' },
  { target: './web/canvas', from: './web', except: ['./canvas', './kit/icons', './paint'] },
  { target: './web/kit', from: './web', except: ['./kit', './app/i18n'] },
  { target: './web/app', from: ['./web/features', './web/routes'] },
  { target: './web/features', from: './web/routes' },
  ...FEATURES.map((name) => ({
    target: `./web/features/${name}`,
    from: [`./web/features/!(${name})/!(index.ts)`, `./web/features/!(${name})/*/**`],
  })),
];

const toGatewayPath = (room) => `./web/gateway/${room}`;
const GATEWAY_WALLS = [
  ...GATEWAY_TIERS.flatMap((tier, index) =>
    tier.map((room) => ({
      target: toGatewayPath(room),
      from: [
        ...GATEWAY_TIERS.slice(index + 1)
          .flat()
          .map(toGatewayPath),
        './web/paint',
        ...PAGE_FOLDERS,
      ].filter((from) => room !== 'host' || from !== './web/paint'),
    })),
  ),
  { target: './web/gateway/ports', from: ['./web/gateway/sync', './web/gateway/nats'] },
  { target: './web/gateway/demo', from: ['./web/gateway/sync', './web/gateway/nats'] },
  // What `perch/memory` publishes knows nothing of the gateway.
  { target: './web/gateway/knowledge', from: ['./web'], except: ['./gateway/knowledge'] },
];

/** The walls (ARCHITECTURE.md): what the files of `target` must not import from this repository. */
export const walls = [
  { target: './shared', from: ['./web', './bridge', './tests'] },
  { target: './web', from: ['./bridge', './tests'] },
  ...GATEWAY_WALLS,
  // Painting is for pages and for the worker: it knows the shapes alone.
  { target: './web/paint', from: './web', except: ['./paint'] },
  ...PAGE_WALLS,
  // The libraries' faces in a browser know the core's parts that they are faces of, and how a database is opened.
  {
    target: './web/library/*.*',
    from: './web',
    except: ['./library', ...LIBRARY_PARTS.map((part) => `./gateway/${part}`), './gateway/storage/database.ts'],
  },
  // `perch/ui` is a face of what the pages draw with.
  { target: './web/library/ui', from: './web', except: ['./library/ui', './canvas', './kit/icons', './paint'] },
  { target: './web/gateway/!(host)/**', from: './web/library' },
  // The gateway's own memory has its index in a database of that kind too.
  { target: './web/gateway/host', from: './web/library', except: ['./database-index.ts'] },
  { target: ['./bridge/*.*', './bridge/!(library)/**'], from: './web' },
  // The libraries' Node faces, and nothing else of the bridge, know those parts too, and what the faces share.
  {
    target: './bridge/library',
    from: './web',
    except: [
      ...[...LIBRARY_PARTS, 'providers/tokens'].map((part) => `./gateway/${part}`),
      './library/model-config.ts',
      './library/load-settings.ts',
    ],
  },
  { target: './bridge', from: './tests' },
];

const node = {
  regex: `^(node:|(${builtinModules.filter((name) => !name.startsWith('_')).join('|')})(/|$))`,
  message: 'this does not run in Node alone',
};
const pages = { regex: '^(svelte|@sveltejs|\\$app|\\$lib|\\$env|\\$service-worker)(/|$)', message: 'only pages know Svelte' };
const TESTS = ['**/*.test.ts', '**/tests/**', '**/fixture.ts'];
const never = (...patterns) => ({ 'no-restricted-imports': ['error', { patterns }] });

export default ts.config(
  { ignores: ['dist/', '.svelte-kit/', '.cache/', 'node_modules/', 'test-results/'] },
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.node, ...globals.browser, ...globals.worker } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/no-unused-expressions': ['error', { allowShortCircuit: true, allowTernary: true }],
      'no-undef': 'off',
      'no-async-promise-executor': 'error',
      'no-cond-assign': 'error',
      'no-constant-binary-expression': 'error',
      'no-control-regex': 'error',
      'no-dupe-else-if': 'error',
      'no-duplicate-case': 'error',
      'no-empty': 'error',
      'no-fallthrough': 'error',
      'no-loss-of-precision': 'error',
      'no-prototype-builtins': 'error',
      'no-self-assign': 'error',
      'no-unreachable': 'error',
      'no-unsafe-finally': 'error',
      'no-useless-escape': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'svelte/no-navigation-without-resolve': 'off',
      // State classes also keep maps that nothing renders.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  { files: ['**/*.svelte', '**/*.svelte.ts'], languageOptions: { parserOptions: { parser: ts.parser } } },
  {
    // Tests see everything; what they test does not.
    files: ['{shared,web,bridge}/**/*.{ts,js,svelte}'],
    ignores: TESTS,
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.js', '.svelte'] })] },
    rules: { 'import-x/no-restricted-paths': ['error', { basePath: import.meta.dirname, zones: walls }] },
  },
  {
    files: ['shared/**/*.ts', 'web/gateway/**/*.ts', 'web/library/**/*.ts', 'web/paint/**/*.ts'],
    ignores: TESTS,
    rules: never(node, pages),
  },
  {
    // The library there defines Symbol.dispose itself.
    files: ['{shared,web}/**/*.{ts,svelte}'],
    ignores: [...TESTS, 'web/gateway/audio/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'VariableDeclaration[kind=/using$/]', message: 'WebKit has no Symbol.dispose: use try and finally' },
      ],
    },
  },
  {
    files: ['web/{canvas,kit,app,features,routes}/**/*.{ts,svelte}'],
    ignores: TESTS,
    rules: never(node),
  },
  {
    files: ['bridge/**/*.ts'],
    ignores: TESTS,
    rules: never(pages),
  },
);

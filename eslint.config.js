import { builtinModules } from 'node:module';
import js from '@eslint/js';
import importX, { createNodeResolver } from 'eslint-plugin-import-x';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

/** The walls (ARCHITECTURE.md): what the files of `target` must not import from this repository. */
export const walls = [
  { target: './shared', from: ['./web', './bridge', './tests'] },
  { target: './web', from: ['./bridge', './tests'] },
  { target: './web/gateway/core', from: ['./web/gateway/storage', './web/gateway/ports', './web/gateway/host', './web/lib', './web/routes'] },
  { target: './web/gateway/storage', from: ['./web/gateway/ports', './web/gateway/host', './web/lib', './web/routes'] },
  { target: './web/gateway/ports', from: ['./web/gateway/storage', './web/gateway/host', './web/lib', './web/routes'] },
  { target: './web/gateway/host', from: ['./web/lib', './web/routes'] },
  { target: './web/lib', from: ['./web/gateway', './web/routes'] },
  { target: './web/routes', from: ['./web/gateway'] },
  { target: './bridge', from: ['./web', './tests'] },
];

const node = ['node:*', ...builtinModules];
const pages = ['svelte', 'svelte/*', '@sveltejs/*', '$app/*', '$lib/*', '$env/*', '$service-worker'];
const notImported = (group, message) => ['error', { patterns: [{ group, message }] }];

export default ts.config(
  { ignores: ['dist/', '.svelte-kit/', '.cache/', 'node_modules/', 'test-results/'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.node, ...globals.browser, ...globals.worker } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/no-unused-expressions': ['error', { allowShortCircuit: true, allowTernary: true }],
      'no-undef': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'svelte/no-navigation-without-resolve': 'off',
    },
  },
  { files: ['**/*.svelte', '**/*.svelte.ts'], languageOptions: { parserOptions: { parser: ts.parser } } },
  {
    // Tests see everything; what they test does not.
    files: ['{shared,web,bridge}/**/*.{ts,js,svelte}'],
    ignores: ['**/*.test.ts', '**/tests/**'],
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.js', '.svelte'] })] },
    rules: { 'import-x/no-restricted-paths': ['error', { basePath: import.meta.dirname, zones: walls }] },
  },
  {
    files: ['shared/**/*.ts', 'web/gateway/**/*.ts'],
    ignores: ['**/*.test.ts', '**/tests/**'],
    rules: { 'no-restricted-imports': notImported([...node, ...pages], 'the contract and the gateway are neither Node nor pages') },
  },
  {
    files: ['web/lib/**/*.{ts,svelte}', 'web/routes/**/*.{ts,svelte}'],
    ignores: ['**/*.test.ts', '**/tests/**'],
    rules: { 'no-restricted-imports': notImported(node, 'pages run in a browser') },
  },
  {
    files: ['bridge/**/*.ts'],
    ignores: ['**/*.test.ts', '**/tests/**'],
    rules: { 'no-restricted-imports': notImported(pages, 'the bridge has no pages') },
  },
);

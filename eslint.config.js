import js from '@eslint/js';
import importX from 'eslint-plugin-import-x';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

/** The walls (ARCHITECTURE.md): who may import whom. Each zone lists what its files must not import. */
const zones = [
  { target: './shared', from: ['./web', './bridge', './tests'] },
  { target: './web/gateway/core', from: ['./web/gateway/storage', './web/gateway/ports', './web/gateway/host', './web/lib', './web/routes', './bridge'] },
  { target: './web/gateway/storage', from: ['./web/gateway/host', './web/gateway/ports', './web/lib', './web/routes', './bridge'] },
  { target: './web/gateway/ports', from: ['./web/gateway/host', './web/gateway/storage', './web/lib', './web/routes', './bridge'] },
  { target: './web/gateway/host', from: ['./web/lib', './web/routes', './bridge'] },
  { target: './web/lib', from: ['./web/gateway', './bridge', './web/routes'] },
  { target: './web/routes', from: ['./web/gateway', './bridge'] },
  { target: './bridge', from: ['./web'] },
];

export default ts.config(
  { ignores: ['dist/', '.svelte-kit/', '.cache/', 'node_modules/'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    plugins: { 'import-x': importX },
    languageOptions: { globals: { ...globals.node, ...globals.browser, ...globals.worker } },
    settings: { 'import-x/resolver-next': [] },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-undef': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'svelte/no-navigation-without-resolve': 'off',
    },
  },
  { files: ['**/*.svelte', '**/*.svelte.ts'], languageOptions: { parserOptions: { parser: ts.parser } } },
);
export { zones };

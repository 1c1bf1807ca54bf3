import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeStartPage } from './start-page.ts';

const SCRIPT = '<script>start()</script>';
const EMPTY = `<head><link href="/_app/start.js" rel="modulepreload"><!-- start page: head --></head><div id="start-page"><!-- start page: styles --><!-- start page: body --></div><div id="app">${SCRIPT}</div>`;
const RENDERED = `<head><link href="./_app/start.js" rel="modulepreload"><link href="./_app/node.js" rel="modulepreload"><link href="./_app/assets/app.1.css" rel="stylesheet"><link href="./_app/assets/Dialog.2.css" rel="stylesheet"></head><div id="app"><!--[--><h1>$& Connect</h1><!--]-->${SCRIPT}</div>`;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perch-start-page-'));
  mkdirSync(join(folder, '_app/assets'), { recursive: true });
  writeFileSync(join(folder, '_app/assets/app.1.css'), "@font-face { src: url('./inter-latin-wght-normal.a1.woff2') }");
  writeFileSync(join(folder, 'empty.html'), EMPTY);
  writeFileSync(join(folder, 'index.html'), RENDERED);
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

it('puts the rendered page into the empty one, with what the first page loads', () => {
  writeStartPage(folder);
  expect(read('index.html')).toBe(
    '<head><link href="/_app/start.js" rel="modulepreload"><link href="/_app/node.js" rel="modulepreload">\n\t\t' +
      '<link href="/_app/assets/app.1.css" rel="stylesheet">\n\t\t' +
      '<link href="/_app/assets/inter-latin-wght-normal.a1.woff2" rel="preload" as="font" type="font/woff2" crossorigin></head>' +
      `<div id="start-page"><link href="/_app/assets/app.1.css" rel="stylesheet"><h1>$& Connect</h1></div><div id="app">${SCRIPT}</div>`,
  );
});

it('leaves the page of the managed browser empty', () => {
  writeStartPage(folder);
  expect(read('host.html')).toBe(EMPTY);
  expect(readdirSync(folder).sort()).toEqual(['_app', 'host.html', 'index.html']);
});

it('fails if nothing was rendered', () => {
  writeFileSync(join(folder, 'index.html'), EMPTY);
  expect(() => writeStartPage(folder)).toThrow('the start page was not rendered');
});

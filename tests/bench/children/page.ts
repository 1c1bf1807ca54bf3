// The baseline for opening a page: an empty page.
import { createServer } from 'node:http';
import { listenForParent } from './serve.ts';

const PAGE = '<!doctype html><html lang="en"><title>floor</title><p>Nothing here.</p></html>';
listenForParent(
  createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-cache' }).end(PAGE)),
);

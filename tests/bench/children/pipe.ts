// The baseline for requests through a worker: frames are piped unchanged to one WebSocket of a SharedWorker that echoes them.
// Responses arrive in the order of requests, so they are matched to callers without parsing.
import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { listenForParent } from './serve.ts';

const PAGE = '<!doctype html><title>floor</title><script>new SharedWorker("/worker.js")</script>';
/** `stream:<count>:<text>` requests that text `count` times; any other message requests itself. */
const WORKER = `
  const socket = new WebSocket('ws://' + location.host + '/worker');
  socket.onmessage = ({ data }) => {
    if (!data.startsWith('stream:')) return socket.send(data);
    const [, count, text] = data.split(':');
    for (let i = 0; i < Number(count); i++) socket.send(text);
  };`;
const FILES: Record<string, [type: string, text: string]> = { '/': ['text/html', PAGE], '/worker.js': ['text/javascript', WORKER] };

const server = createServer((request, response) => {
  const [type, text] = FILES[request.url ?? ''] ?? ['text/plain', ''];
  response.writeHead(200, { 'content-type': type }).end(text);
});

let worker: WebSocket | undefined;
let waiting: WebSocket[] = [];
let streaming: WebSocket | undefined;
new WebSocketServer({ server }).on('connection', (socket, request) => {
  if (request.url === '/worker') {
    worker = socket;
    socket.on('message', (data, isBinary) => (streaming ?? waiting.shift())?.send(data, { binary: isBinary }));
    return;
  }
  streaming = request.url === '/stream' ? socket : undefined;
  waiting = [];
  socket.on('message', (data, isBinary) => {
    if (!streaming) waiting.push(socket);
    worker?.send(data, { binary: isBinary });
  });
  socket.on('close', () => streaming === socket && (streaming = undefined));
  // The caller may send requests once the worker is connected.
  const ready = (): void => void (worker ? socket.send('ready') : setTimeout(ready, 5));
  ready();
});
listenForParent(server);

// The first baseline: a `ws` server that echoes messages.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { listenForParent } from './serve.ts';

const server = createServer();
new WebSocketServer({ server }).on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
listenForParent(server);

// The first floor: a `ws` server that sends back what it gets.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { listenForParent } from './serve.ts';

const server = createServer();
new WebSocketServer({ server }).on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
listenForParent(server);

/** `perch/client`: protocol 3 for programs, in a browser and in Node. */
export { type ConnectOptions, type ConnectParams, ConnectionClosed, GatewayClient, type ErrorShape, RpcError } from './client.ts';
export { socketLink } from './websocket.ts';
export { type Link, memoryPair, portLink } from '../link/link.ts';

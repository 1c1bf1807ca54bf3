// A worker has no import map.
import * as memory from '/perch/memory.js';
import * as recall from '/perch/active-recall.js';
import * as dreaming from '/perch/dreaming.js';
import * as wiki from '/perch/wiki.js';
import { again, walk } from './walk.js';

const libraries = { memory, recall, wiki, dreaming };
const answer = async (port, name) => {
  try {
    port.postMessage([await walk(libraries, name, location.origin), await again(libraries, name)]);
  } catch (error) {
    port.postMessage(String(error?.stack ?? error));
  }
};
const serve = (port) => (port.onmessage = ({ data }) => void answer(port, data));
if ('onconnect' in globalThis) globalThis.onconnect = ({ ports: [port] }) => serve(port);
else serve(globalThis);

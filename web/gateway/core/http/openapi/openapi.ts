import { MESSAGES_PATH } from '#shared/http/messages-api.ts';
import { z } from '#shared/rpc/zod.ts';
import { chatMessage, chatParams } from '../chat-request.ts';
import { completionRequest } from '../completions/request.ts';
import { conversationRequest, conversationUpdate, itemsRequest } from '../conversations/conversations.ts';
import { embeddingRequest } from '../embeddings.ts';
import { uploadRequest } from '../files/files.ts';
import { imageEditRequest, imageRequest } from '../media/images.ts';
import { speechRequest } from '../media/speech-endpoint.ts';
import { transcriptionRequest, translationRequest } from '../media/transcriptions.ts';
import { envelope as messagesEnvelope, messageParams } from '../messages/request.ts';
import { moderationRequest } from '../moderations.ts';
import { showRequest } from '../ollama/models.ts';
import { embeddingsRequest, embedRequest } from '../ollama/ollama.ts';
import { chatRequest as ollamaChatRequest, generateRequest } from '../ollama/ollama-request.ts';
import { rerankRequest } from '../rerank.ts';
import { responseRequest } from '../responses/request.ts';
import { OPENAPI_PATH } from '../routes.ts';
import { envelope } from '#shared/http/envelope.ts';

const JSON_TYPE = 'application/json';
const FORM = 'multipart/form-data';
const EVENTS = 'text/event-stream';

interface Operation {
  summary: string;
  tag: 'Models' | 'Text' | 'Audio' | 'Images' | 'Files' | 'Conversations' | 'Ollama' | 'MCP' | 'API';
  /** Schema of the body, which also validates it. */
  body?: z.ZodType;
  /** Content type of the body. */
  type?: typeof JSON_TYPE | typeof FORM;
  /** Content types of a successful response. */
  answers: readonly string[];
}

const json = [JSON_TYPE];
const jsonOrEvents = [JSON_TYPE, EVENTS];
const jsonOrLines = [JSON_TYPE, 'application/x-ndjson'];
const sounds = ['audio/mpeg', 'audio/wav', 'audio/pcm', 'audio/ogg', 'audio/aac', 'audio/flac', EVENTS];
const chat = envelope.extend({ ...chatParams.shape, messages: z.array(chatMessage).min(1) });
const messages = messagesEnvelope.extend(messageParams.shape);
const mcp = (summary: string): Operation => ({ summary, tag: 'MCP', answers: jsonOrEvents });
const mcpPath = {
  get: mcp('Listen to an agent’s MCP server'),
  post: { ...mcp('Send a message to an agent’s MCP server'), body: z.looseObject({ jsonrpc: z.literal('2.0') }) },
  delete: mcp('End a session of MCP'),
};

/** The API's operations, by path and method. A test compares them with the routes. */
const OPERATIONS: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  '/v1/chat/completions': { post: { summary: 'Create a chat completion', tag: 'Text', body: chat, answers: jsonOrEvents } },
  '/v1/completions': { post: { summary: 'Create a text completion', tag: 'Text', body: completionRequest, answers: jsonOrEvents } },
  [MESSAGES_PATH]: { post: { summary: 'Create a message (Anthropic’s API)', tag: 'Text', body: messages, answers: jsonOrEvents } },
  [`${MESSAGES_PATH}/count_tokens`]: {
    post: { summary: 'Count the tokens of a message (Anthropic’s API)', tag: 'Text', body: messages, answers: json },
  },
  '/v1/responses': { post: { summary: 'Create a response', tag: 'Text', body: responseRequest, answers: jsonOrEvents } },
  '/v1/responses/{id}': {
    get: { summary: 'Get a stored response', tag: 'Text', answers: json },
    delete: { summary: 'Delete a stored response', tag: 'Text', answers: json },
  },
  '/v1/responses/{id}/input_items': { get: { summary: 'List the input of a stored response', tag: 'Text', answers: json } },
  '/v1/responses/{id}/cancel': { post: { summary: 'Cancel a response', tag: 'Text', answers: json } },
  '/v1/responses/input_tokens': {
    post: { summary: 'Count the tokens of a response’s input', tag: 'Text', body: responseRequest, answers: json },
  },
  '/v1/responses/compact': {
    post: { summary: 'Summarise a conversation into one item', tag: 'Text', body: responseRequest, answers: json },
  },
  '/v1/files': {
    get: { summary: 'List files', tag: 'Files', answers: json },
    post: { summary: 'Upload a file', tag: 'Files', type: FORM, body: uploadRequest, answers: json },
  },
  '/v1/files/{id}': {
    get: { summary: 'Get a file’s description', tag: 'Files', answers: json },
    delete: { summary: 'Delete a file', tag: 'Files', answers: json },
  },
  '/v1/files/{id}/content': { get: { summary: 'Download a file', tag: 'Files', answers: ['application/octet-stream'] } },
  '/v1/conversations': { post: { summary: 'Create a conversation', tag: 'Conversations', body: conversationRequest, answers: json } },
  '/v1/conversations/{id}': {
    get: { summary: 'Get a conversation', tag: 'Conversations', answers: json },
    post: { summary: 'Change a conversation’s metadata', tag: 'Conversations', body: conversationUpdate, answers: json },
    delete: { summary: 'Delete a conversation', tag: 'Conversations', answers: json },
  },
  '/v1/conversations/{id}/items': {
    get: { summary: 'List the items of a conversation', tag: 'Conversations', answers: json },
    post: { summary: 'Add items to a conversation', tag: 'Conversations', body: itemsRequest, answers: json },
  },
  '/v1/conversations/{id}/items/{item}': {
    get: { summary: 'Get an item of a conversation', tag: 'Conversations', answers: json },
    delete: { summary: 'Delete an item of a conversation', tag: 'Conversations', answers: json },
  },
  '/v1/rerank': { post: { summary: 'Rank documents by relevance to a query', tag: 'Text', body: rerankRequest, answers: json } },
  '/v1/moderations': { post: { summary: 'Check texts with a provider’s moderation', tag: 'Text', body: moderationRequest, answers: json } },
  '/v1/embeddings': { post: { summary: 'Create embeddings', tag: 'Text', body: embeddingRequest, answers: json } },
  '/v1/audio/speech': { post: { summary: 'Create speech from text', tag: 'Audio', body: speechRequest, answers: sounds } },
  '/v1/audio/transcriptions': {
    post: { summary: 'Transcribe audio', tag: 'Audio', type: FORM, body: transcriptionRequest, answers: [...jsonOrEvents, 'text/plain'] },
  },
  '/v1/audio/translations': {
    post: { summary: 'Translate audio into English', tag: 'Audio', type: FORM, body: translationRequest, answers: [...json, 'text/plain'] },
  },
  '/v1/images/generations': { post: { summary: 'Create images', tag: 'Images', body: imageRequest, answers: jsonOrEvents } },
  '/v1/images/edits': { post: { summary: 'Edit images', tag: 'Images', type: FORM, body: imageEditRequest, answers: jsonOrEvents } },
  '/v1/models': { get: { summary: 'List models and agents', tag: 'Models', answers: json } },
  '/v1/models/{model}': { get: { summary: 'Get a model or agent', tag: 'Models', answers: json } },
  '/api/version': { get: { summary: 'Get the version of the API', tag: 'Ollama', answers: json } },
  '/api/tags': { get: { summary: 'List models', tag: 'Ollama', answers: json } },
  '/api/ps': { get: { summary: 'List loaded models', tag: 'Ollama', answers: json } },
  '/api/show': { post: { summary: 'Describe a model', tag: 'Ollama', body: showRequest, answers: json } },
  '/api/chat': { post: { summary: 'Chat with a model', tag: 'Ollama', body: ollamaChatRequest, answers: jsonOrLines } },
  '/api/generate': { post: { summary: 'Complete a prompt', tag: 'Ollama', body: generateRequest, answers: jsonOrLines } },
  '/api/embed': { post: { summary: 'Create embeddings', tag: 'Ollama', body: embedRequest, answers: json } },
  '/api/embeddings': { post: { summary: 'Create an embedding', tag: 'Ollama', body: embeddingsRequest, answers: json } },
  '/mcp': mcpPath,
  '/mcp/{agent}': mcpPath,
  [OPENAPI_PATH]: { get: { summary: 'Describe the API', tag: 'API', answers: json } },
};

const errorSchema = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string().nullable() }),
});

/** Converts a Zod schema to JSON Schema 2020-12, which OpenAPI 3.1 uses. Omits checks that JSON Schema cannot express. */
function toSchema(contract: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(contract, { io: 'input', unrepresentable: 'any' });
  return schema;
}

function toOperation(path: string, method: string, { summary, tag, body, type = JSON_TYPE, answers }: Operation): Record<string, unknown> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const parameters = names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const content = Object.fromEntries(answers.map((each) => [each, each === JSON_TYPE ? { schema: { type: 'object' } } : {}]));
  return {
    operationId: `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '')}`,
    summary,
    tags: [tag],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: { [type]: { schema: toSchema(body) } } } } : {}),
    responses: {
      '200': { description: 'Success', content },
      default: { description: 'Error', content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Error' } } } },
    },
  };
}

let built: Record<string, unknown> | undefined;

/** The OpenAPI 3.1 description of `/v1` and `/mcp`, generated from the schemas that validate the requests. */
export function openApiDocument(version: string): Record<string, unknown> {
  const paths = Object.entries(OPERATIONS).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, toOperation(path, method, operation)])),
  ]);
  return (built ??= {
    openapi: '3.1.0',
    info: { title: 'Perch', version, description: 'The HTTP API of a Perch gateway: OpenAI’s and Anthropic’s formats, and MCP.' },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: toSchema(errorSchema) },
    },
  });
}

import { MESSAGES_PATH } from '#shared/http/messages-api.ts';
import { z } from '#shared/rpc/zod.ts';
import { chatMessage, chatParams } from '../chat-request.ts';
import { completionRequest } from '../completions/completion-request.ts';
import { conversationRequest, conversationUpdate, itemsRequest } from '../conversations/conversations.ts';
import { embeddingRequest } from '../embeddings.ts';
import { uploadRequest } from '../files/api-files.ts';
import { imageEditRequest, imageRequest } from '../media/images.ts';
import { speechRequest } from '../media/speech-endpoint.ts';
import { transcriptionRequest, translationRequest } from '../media/transcriptions.ts';
import { envelope as messagesEnvelope, messageParams } from '../messages/messages-request.ts';
import { moderationRequest } from '../moderations.ts';
import { showRequest } from '../ollama/ollama-models.ts';
import { embeddingsRequest, embedRequest } from '../ollama/ollama.ts';
import { chatRequest as ollamaChatRequest, generateRequest } from '../ollama/ollama-request.ts';
import { rerankRequest } from '../rerank.ts';
import { responseRequest } from '../responses/responses-request.ts';
import { OPENAPI_PATH } from '../http-routes.ts';
import { envelope } from '#shared/http/envelope.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';
const EVENTS_TYPE = 'text/event-stream';

interface Operation {
  summary: string;
  tag: 'Models' | 'Text' | 'Audio' | 'Images' | 'Files' | 'Conversations' | 'Ollama' | 'MCP' | 'API';
  /** Schema of the body, which also validates it. */
  body?: z.ZodType;
  /** Content type of the body. */
  type?: typeof JSON_TYPE | typeof FORM_TYPE;
  /** Content types of a successful response. */
  responseTypes: readonly string[];
}

const jsonTypes = [JSON_TYPE];
const jsonOrEventTypes = [JSON_TYPE, EVENTS_TYPE];
const jsonOrLineTypes = [JSON_TYPE, 'application/x-ndjson'];
const audioTypes = ['audio/mpeg', 'audio/wav', 'audio/pcm', 'audio/ogg', 'audio/aac', 'audio/flac', EVENTS_TYPE];
const chatSchema = envelope.extend({ ...chatParams.shape, messages: z.array(chatMessage).min(1) });
const messagesSchema = messagesEnvelope.extend(messageParams.shape);
const mcpOperation = (summary: string): Operation => ({ summary, tag: 'MCP', responseTypes: jsonOrEventTypes });
const mcpPath = {
  get: mcpOperation('Listen to an agent’s MCP server'),
  post: { ...mcpOperation('Send a message to an agent’s MCP server'), body: z.looseObject({ jsonrpc: z.literal('2.0') }) },
  delete: mcpOperation('End a session of MCP'),
};

/** The API's operations, by path and method. A test compares them with the routes. */
const OPERATIONS: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  '/v1/chat/completions': { post: { summary: 'Create a chat completion', tag: 'Text', body: chatSchema, responseTypes: jsonOrEventTypes } },
  '/v1/completions': {
    post: { summary: 'Create a text completion', tag: 'Text', body: completionRequest, responseTypes: jsonOrEventTypes },
  },
  [MESSAGES_PATH]: {
    post: { summary: 'Create a message (Anthropic’s API)', tag: 'Text', body: messagesSchema, responseTypes: jsonOrEventTypes },
  },
  [`${MESSAGES_PATH}/count_tokens`]: {
    post: { summary: 'Count the tokens of a message (Anthropic’s API)', tag: 'Text', body: messagesSchema, responseTypes: jsonTypes },
  },
  '/v1/responses': { post: { summary: 'Create a response', tag: 'Text', body: responseRequest, responseTypes: jsonOrEventTypes } },
  '/v1/responses/{id}': {
    get: { summary: 'Get a stored response', tag: 'Text', responseTypes: jsonTypes },
    delete: { summary: 'Delete a stored response', tag: 'Text', responseTypes: jsonTypes },
  },
  '/v1/responses/{id}/input_items': { get: { summary: 'List the input of a stored response', tag: 'Text', responseTypes: jsonTypes } },
  '/v1/responses/{id}/cancel': { post: { summary: 'Cancel a response', tag: 'Text', responseTypes: jsonTypes } },
  '/v1/responses/input_tokens': {
    post: { summary: 'Count the tokens of a response’s input', tag: 'Text', body: responseRequest, responseTypes: jsonTypes },
  },
  '/v1/responses/compact': {
    post: { summary: 'Summarise a conversation into one item', tag: 'Text', body: responseRequest, responseTypes: jsonTypes },
  },
  '/v1/files': {
    get: { summary: 'List files', tag: 'Files', responseTypes: jsonTypes },
    post: { summary: 'Upload a file', tag: 'Files', type: FORM_TYPE, body: uploadRequest, responseTypes: jsonTypes },
  },
  '/v1/files/{id}': {
    get: { summary: 'Get a file’s description', tag: 'Files', responseTypes: jsonTypes },
    delete: { summary: 'Delete a file', tag: 'Files', responseTypes: jsonTypes },
  },
  '/v1/files/{id}/content': { get: { summary: 'Download a file', tag: 'Files', responseTypes: ['application/octet-stream'] } },
  '/v1/conversations': {
    post: { summary: 'Create a conversation', tag: 'Conversations', body: conversationRequest, responseTypes: jsonTypes },
  },
  '/v1/conversations/{id}': {
    get: { summary: 'Get a conversation', tag: 'Conversations', responseTypes: jsonTypes },
    post: { summary: 'Change a conversation’s metadata', tag: 'Conversations', body: conversationUpdate, responseTypes: jsonTypes },
    delete: { summary: 'Delete a conversation', tag: 'Conversations', responseTypes: jsonTypes },
  },
  '/v1/conversations/{id}/items': {
    get: { summary: 'List the items of a conversation', tag: 'Conversations', responseTypes: jsonTypes },
    post: { summary: 'Add items to a conversation', tag: 'Conversations', body: itemsRequest, responseTypes: jsonTypes },
  },
  '/v1/conversations/{id}/items/{item}': {
    get: { summary: 'Get an item of a conversation', tag: 'Conversations', responseTypes: jsonTypes },
    delete: { summary: 'Delete an item of a conversation', tag: 'Conversations', responseTypes: jsonTypes },
  },
  '/v1/rerank': { post: { summary: 'Rank documents by relevance to a query', tag: 'Text', body: rerankRequest, responseTypes: jsonTypes } },
  '/v1/moderations': {
    post: { summary: 'Check texts with a provider’s moderation', tag: 'Text', body: moderationRequest, responseTypes: jsonTypes },
  },
  '/v1/embeddings': { post: { summary: 'Create embeddings', tag: 'Text', body: embeddingRequest, responseTypes: jsonTypes } },
  '/v1/audio/speech': { post: { summary: 'Create speech from text', tag: 'Audio', body: speechRequest, responseTypes: audioTypes } },
  '/v1/audio/transcriptions': {
    post: {
      summary: 'Transcribe audio',
      tag: 'Audio',
      type: FORM_TYPE,
      body: transcriptionRequest,
      responseTypes: [...jsonOrEventTypes, 'text/plain'],
    },
  },
  '/v1/audio/translations': {
    post: {
      summary: 'Translate audio into English',
      tag: 'Audio',
      type: FORM_TYPE,
      body: translationRequest,
      responseTypes: [...jsonTypes, 'text/plain'],
    },
  },
  '/v1/images/generations': { post: { summary: 'Create images', tag: 'Images', body: imageRequest, responseTypes: jsonOrEventTypes } },
  '/v1/images/edits': {
    post: { summary: 'Edit images', tag: 'Images', type: FORM_TYPE, body: imageEditRequest, responseTypes: jsonOrEventTypes },
  },
  '/v1/models': { get: { summary: 'List models and agents', tag: 'Models', responseTypes: jsonTypes } },
  '/v1/models/{model}': { get: { summary: 'Get a model or agent', tag: 'Models', responseTypes: jsonTypes } },
  '/api/version': { get: { summary: 'Get the version of the API', tag: 'Ollama', responseTypes: jsonTypes } },
  '/api/tags': { get: { summary: 'List models', tag: 'Ollama', responseTypes: jsonTypes } },
  '/api/ps': { get: { summary: 'List loaded models', tag: 'Ollama', responseTypes: jsonTypes } },
  '/api/show': { post: { summary: 'Describe a model', tag: 'Ollama', body: showRequest, responseTypes: jsonTypes } },
  '/api/chat': { post: { summary: 'Chat with a model', tag: 'Ollama', body: ollamaChatRequest, responseTypes: jsonOrLineTypes } },
  '/api/generate': { post: { summary: 'Complete a prompt', tag: 'Ollama', body: generateRequest, responseTypes: jsonOrLineTypes } },
  '/api/embed': { post: { summary: 'Create embeddings', tag: 'Ollama', body: embedRequest, responseTypes: jsonTypes } },
  '/api/embeddings': { post: { summary: 'Create an embedding', tag: 'Ollama', body: embeddingsRequest, responseTypes: jsonTypes } },
  '/mcp': mcpPath,
  '/mcp/{agent}': mcpPath,
  [OPENAPI_PATH]: { get: { summary: 'Describe the API', tag: 'API', responseTypes: jsonTypes } },
};

const errorSchema = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string().nullable() }),
});

/** Converts a Zod schema to JSON Schema 2020-12, which OpenAPI 3.1 uses. Omits checks that JSON Schema cannot express. */
function toSchema(contract: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(contract, { io: 'input', unrepresentable: 'any' });
  return schema;
}

function toOperation(
  path: string,
  method: string,
  { summary, tag, body, type = JSON_TYPE, responseTypes }: Operation,
): Record<string, unknown> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const parameters = names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const content = Object.fromEntries(
    responseTypes.map((responseType) => [responseType, responseType === JSON_TYPE ? { schema: { type: 'object' } } : {}]),
  );
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

let cachedDocument: Record<string, unknown> | undefined;

/** The OpenAPI 3.1 description of `/v1` and `/mcp`, generated from the schemas that validate the requests. */
export function createOpenApiDocument(version: string): Record<string, unknown> {
  const paths = Object.entries(OPERATIONS).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, toOperation(path, method, operation)])),
  ]);
  return (cachedDocument ??= {
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

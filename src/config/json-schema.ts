/** The JSON Schemas of the package, generated from the table of keys. */

import { ENTRY_KEYS, INPUTS, PROJECT_PERMISSIONS, PROJECT_SERVERS, SETTINGS_KEYS } from './config-keys.ts';
import { type JsonSchema, type Keys, object } from './kind.ts';

const DIALECT = 'http://json-schema.org/draft-07/schema#';

/** The schema of `.mcp.json`. */
export function mcpFileSchema(): JsonSchema {
  return {
    $schema: DIALECT,
    title: 'MCP servers of a project (.mcp.json)',
    type: 'object',
    properties: { $schema: { type: 'string' }, mcpServers: SERVERS, inputs: INPUTS.schema },
    definitions: { server: serverSchema() },
  };
}

/** The schema of `config.json` in Plugboard's home folder. */
export function configFileSchema(): JsonSchema {
  return {
    $schema: DIALECT,
    title: "A person's Plugboard configuration (config.json)",
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      mcpServers: SERVERS,
      projects: {
        description:
          'By the absolute path of a project: servers of one person there, and rules for the servers that it supplies.',
        type: 'object',
        additionalProperties: {
          type: 'object',
          properties: {
            mcpServers: SERVERS,
            permissions: PROJECT_PERMISSIONS.schema,
            servers: PROJECT_SERVERS.schema,
          },
        },
      },
      ...propertiesOf(SETTINGS_KEYS),
    },
    definitions: { server: serverSchema() },
  };
}

const SERVERS: JsonSchema = {
  description: 'Servers by name.',
  type: 'object',
  propertyNames: { minLength: 1, maxLength: 128, pattern: '^[^-]' },
  additionalProperties: { $ref: '#/definitions/server' },
};

/** Allows unknown keys: other agents read the same file and have their own keys. */
function serverSchema(): JsonSchema {
  return {
    type: 'object',
    oneOf: [{ required: ['command'] }, { required: ['url'] }],
    properties: propertiesOf(ENTRY_KEYS),
  };
}

function propertiesOf<T>(table: Keys<T>): Readonly<Record<string, unknown>> {
  return object(table).schema['properties'] as Readonly<Record<string, unknown>>;
}

import protobuf from 'protobufjs';

/** Returns every message type of `namespace`, nested ones too. */
export function messageTypes(namespace: protobuf.NamespaceBase): protobuf.Type[] {
  return namespace.nestedArray.flatMap(nested => [
    ...(nested instanceof protobuf.Type ? [nested] : []),
    ...(nested instanceof protobuf.Namespace ? messageTypes(nested) : []),
  ]);
}

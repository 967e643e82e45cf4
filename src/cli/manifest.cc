#include "cli/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/check.h"
#include "base/try.h"
#include "cli/aws_shape.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

struct KindFacts {
  ManifestKind kind;
  std::string_view name;
  const char* name_member;
  std::string_view members;
};

#define TESON_RETRY_AND_TIMEOUT                                                          \
  "retryStrategy:(attempts:i evaluateOnExit:[(onStatusReason:s onReason:s onExitCode:s " \
  "action!:s)]) propagateTags:b timeout:(attemptDurationSeconds:i) parameters:{s} tags:{s} "
#define TESON_RESOURCES                                                          \
  "vcpus:i memory:i command:[s] instanceType:s environment:[(name!:s value:s)] " \
  "resourceRequirements:[(type!:s<VCPU|MEMORY|GPU> value!:s)] "

// Source: botocore's model of AWS Batch. Not required here are subnets and securityGroupIds: there is no network.
constexpr std::array kKinds = {
    KindFacts{ManifestKind::kPolicy, "SchedulingPolicy", "name",
              "name!:s tags:{s} quotaSharePolicy:a fairsharePolicy:(shareDecaySeconds:i computeReservation:i "
              "shareDistribution:[(shareIdentifier!:s weightFactor:f)])"},
    KindFacts{ManifestKind::kEnvironment, "ComputeEnvironment", "computeEnvironmentName",
              "computeEnvironmentName!:s type!:s<MANAGED|UNMANAGED> state:s<ENABLED|DISABLED> unmanagedvCpus:i "
              "serviceRole:s tags:{s} eksConfiguration:a context:s computeResources:("
              "type!:s<EC2|SPOT|FARGATE|FARGATE_SPOT> allocationStrategy:s minvCpus:i maxvCpus!:i desiredvCpus:i "
              "instanceTypes:[s] imageId:s subnets:[s] securityGroupIds:[s] ec2KeyPair:s instanceRole:s tags:{s} "
              "placementGroup:s bidPercentage:i spotIamFleetRole:s launchTemplate:a "
              "ec2Configuration:[(imageType!:s imageIdOverride:s imageKubernetesVersion:s)])"},
    KindFacts{ManifestKind::kQueue, "JobQueue", "jobQueueName",
              "jobQueueName!:s state:s<ENABLED|DISABLED> schedulingPolicyArn:s priority!:i "
              "computeEnvironmentOrder!:[(order!:i computeEnvironment!:s)] serviceEnvironmentOrder:a jobQueueType:s "
              "jobStateTimeLimitActions:[(reason!:s state!:s maxTimeSeconds!:i action!:s)] tags:{s}"},
    KindFacts{ManifestKind::kDefinition, "JobDefinition", "jobDefinitionName",
              "jobDefinitionName!:s type!:s<container|multinode> schedulingPriority:i " TESON_RETRY_AND_TIMEOUT
              "nodeProperties:a eksProperties:a ecsProperties:a consumableResourceProperties:a "
              "platformCapabilities:[s<EC2|FARGATE>] containerProperties:(image!:s " TESON_RESOURCES
              "jobRoleArn:s executionRoleArn:s user:s readonlyRootFilesystem:b privileged:b enableExecuteCommand:b "
              "volumes:[(name:s host:(sourcePath:s) efsVolumeConfiguration:(fileSystemId!:s rootDirectory:s "
              "transitEncryption:s transitEncryptionPort:i authorizationConfig:(accessPointId:s iam:s)))] "
              "mountPoints:[(containerPath:s readOnly:b sourceVolume:s)] "
              "ulimits:[(hardLimit!:i name!:s softLimit!:i)] linuxParameters:("
              "devices:[(hostPath!:s containerPath:s permissions:[s])] initProcessEnabled:b sharedMemorySize:i "
              "tmpfs:[(containerPath!:s size!:i mountOptions:[s])] maxSwap:i swappiness:i) "
              "logConfiguration:(logDriver!:s options:{s} secretOptions:[(name!:s valueFrom!:s)]) "
              "secrets:[(name!:s valueFrom!:s)] networkConfiguration:(assignPublicIp:s) "
              "fargatePlatformConfiguration:(platformVersion:s) ephemeralStorage:(sizeInGiB!:i) "
              "runtimePlatform:(operatingSystemFamily:s cpuArchitecture:s) "
              "repositoryCredentials:(credentialsParameter!:s))"},
    KindFacts{ManifestKind::kJob, "Job", "jobName",
              "jobName!:s jobQueue!:s jobDefinition!:s shareIdentifier:s schedulingPriorityOverride:i "
              "arrayProperties:(size:i) dependsOn:[(jobId:s type:s<N_TO_N|SEQUENTIAL>)] " TESON_RETRY_AND_TIMEOUT
              "containerOverrides:(" TESON_RESOURCES
              ") nodeOverrides:a eksPropertiesOverride:a ecsPropertiesOverride:a "
              "consumableResourcePropertiesOverride:a"},
};
#undef TESON_RETRY_AND_TIMEOUT
#undef TESON_RESOURCES

const KindFacts& facts_of(ManifestKind kind) {
  const auto found = std::ranges::find(kKinds, kind, &KindFacts::kind);
  TESON_CHECK(found != kKinds.end(), "a kind of document without its facts");
  return *found;
}

const AwsShape& shape_of(ManifestKind kind) {
  static const std::map<ManifestKind, AwsShape> shapes = [] {
    std::map<ManifestKind, AwsShape> out;
    for (const KindFacts& facts : kKinds) out.emplace(facts.kind, AwsShape::parse(facts.members));
    return out;
  }();
  return shapes.at(kind);
}

Result<ManifestKind> kind_of(const YamlNode& document, const std::string& file) {
  std::vector<std::string_view> names;
  names.reserve(kKinds.size());
  for (const KindFacts& facts : kKinds) names.push_back(facts.name);
  const std::string known = fmt::format("one of {}", fmt::join(names, ", "));
  if (document.kind != YamlNode::Kind::kMapping) {
    return invalid(at(file, document.place, "a document must be a map of fields, the first of them kind: " + known));
  }
  const YamlNode* kind = document.member("kind");
  if (kind == nullptr) return invalid(at(file, document.place, "'kind' is missing: it must be " + known));
  const auto found = std::ranges::find(kKinds, std::string_view(kind->text), &KindFacts::name);
  if (kind->kind != YamlNode::Kind::kScalar || found == kKinds.end()) {
    return invalid(
        at(file, kind->place, fmt::format("kind: '{}' is not known: it must be {}", printable(kind->text), known)));
  }
  return found->kind;
}

Result<ManifestDocument> document_of(YamlNode node, const std::string& file) {
  TESON_TRY(const ManifestKind kind, kind_of(node, file));
  std::erase_if(node.members, [](const YamlMember& member) { return member.key.text == "kind"; });
  const std::string what(kind_name(kind));
  TESON_TRY(Json request, shaped(node, shape_of(kind), file, what));
  std::string name = text_field(request, name_member(kind));
  if (name.empty()) return invalid(at(file, node.place, fmt::format("{}: the name is empty", what)));
  if (kind == ManifestKind::kEnvironment && text_field(request, "type") == "MANAGED" &&
      !request.contains("computeResources")) {
    return invalid(at(file, node.place, what + ": 'computeResources' is missing: a MANAGED one must have it"));
  }
  return ManifestDocument{kind, std::move(name), std::move(request), file, node.place};
}

// A name stands for one thing; jobs may share one, but not all they are.
bool is_same(const ManifestDocument& a, const ManifestDocument& b) {
  if (a.kind != b.kind || a.name != b.name) return false;
  return a.kind != ManifestKind::kJob || a.request == b.request;
}

}  // namespace

std::string ManifestDocument::label() const { return fmt::format("{}/{}", kind_name(kind), printable(name)); }

std::string_view kind_name(ManifestKind kind) { return facts_of(kind).name; }
const char* name_member(ManifestKind kind) { return facts_of(kind).name_member; }

Result<std::vector<ManifestDocument>> read_manifest(const std::vector<ManifestFile>& files) {
  std::vector<ManifestDocument> out;
  std::vector<std::string> mistakes;
  for (const ManifestFile& file : files) {
    auto nodes = read_yaml(file.text, file.name);
    if (!nodes) {
      mistakes.push_back(nodes.error().message);
      continue;
    }
    for (YamlNode& node : *nodes) {
      auto document = document_of(std::move(node), file.name);
      if (!document) {
        mistakes.push_back(document.error().message);
        continue;
      }
      const auto twin = std::ranges::find_if(out, [&](const auto& other) { return is_same(other, *document); });
      if (twin != out.end()) {
        mistakes.push_back(
            at(document->file, document->place,
               fmt::format("{} is given twice, first at {}:{}: {}", document->label(), printable(twin->file),
                           twin->place.line,
                           document->kind == ManifestKind::kJob ? "to run it twice, let a name or a tag differ"
                                                                : "keep one of them")));
        continue;
      }
      out.push_back(*std::move(document));
    }
  }
  if (!mistakes.empty()) return invalid(fmt::format("{}", fmt::join(mistakes, "\n")));
  std::ranges::stable_sort(out, {}, &ManifestDocument::kind);
  return out;
}

}  // namespace teson::cli
